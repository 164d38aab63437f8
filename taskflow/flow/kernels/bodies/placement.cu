// Positions of bodies given by formulas: flags, distances and velocities of adjacent faces and cells, as in
// `taskflow.flow.bodies.cuts`, except for BESIDE, which reaches up to 3.5 widths.
#define UZ 1
#define BX 32
#define BY 4
#include "cell.h"
#include "../flags.h"
#include "shapes.h"

constexpr int ALL_INSULATED = 0x555, ALL_CLOSED = 0x3F;

// The cell of a place in the lattice, some steps along an axis away
struct At {
  int cell[3];
  INLINE At moved(int axis, int by) const {
    return {{cell[0] + (axis == 0 ? by : 0), cell[1] + (axis == 1 ? by : 0), cell[2] + (axis == 2 ? by : 0)}};
  }
};

struct FaceGeometry {
  real friction, blockage, body;
};

// The share of the low face across an axis that lies in bodies, bounded by straight lines between its edges
FN double covered_share(const Lattice& lattice, const At& c, int axis) {
  const int a = axis == 0 ? 1 : 0, b = axis == 2 ? 1 : 2;
  const At at[] = {c, c.moved(a, 1), c.moved(b, 1), c.moved(a, 1).moved(b, 1)};
  bool in[4];
  for (int n = 0; n < 4; ++n) in[n] = lattice.number(at[n].cell, CORNER) > 0;
  const auto edge = [&](int low, int high, int along) {
    if (in[low] == in[high]) return in[low] ? 1.0 : 0.0;
    const At& from = in[low] ? at[high] : at[low];
    const int side = in[low] ? -1 : 1;
    const double step = lattice.step(from.cell, CORNER, along, side);
    return 1 - entry(lattice.g, lattice.poses, lattice.place(from.cell, CORNER), along, side * step);
  };
  double shares[4];
#pragma unroll 1
  for (int n = 0; n < 4; ++n) shares[n] = n < 2 ? edge(2 * n, 2 * n + 1, a) : edge(n - 2, n, b);
  const double bottom = shares[0], top = shares[1], west = shares[2], east = shares[3];
  const double along_a = bottom + top, along_b = west + east;
  const int corners = in[0] + in[1] + in[2] + in[3];
  if (corners == 0) return 0;
  if (corners == 1) return along_a * along_b / 2;
  if (corners == 3) return 1 - (2 - along_a) * (2 - along_b) / 2;
  if (corners == 4) return 1;
  if (in[0] && in[3]) return (bottom * west + top * east) / 2;
  if (in[1] && in[2]) return (bottom * east + top * west) / 2;
  return in[0] == in[1] ? along_b / 2 : along_a / 2;
}

// Of the low face of a cell across an axis, of which a body has the number or none
FN FaceGeometry face(const Lattice& lattice, const At& c, int axis, int number, double viscosity) {
  const BodyShapes& g = lattice.g;
  const Place here = lattice.place(c.cell, axis);
  if (number) return {0, 0, real(speed(g, body(g, lattice.poses, number), here, axis))};
  double friction = 0;
  int owner = 0;
  for (int n = 0; n < 6; ++n) {
    const int along = n / 2, side = n % 2 ? 1 : -1;
    const int other = lattice.number(c.moved(along, side).cell, axis);
    if (!other) continue;
    owner = owner ? owner : other;
    const double step = lattice.step(c.cell, axis, along, side), extent = lattice.extent(c.cell, axis, along);
    const double share = entry(g, lattice.poses, here, along, side * step);
    const double near = carried(speed(g, body(g, lattice.poses, other), here, along), side, share, step);
    friction += weight(share, step, extent) - 1 / (step * extent) + (viscosity > 0 ? near / viscosity : 0.0);
  }
  if (!owner) return {0, 0, 0};
  const double open = 1 - covered_share(lattice, c, axis);
  const double blockage = 1 / (open > LEAST_OPEN ? open : LEAST_OPEN) - 1;
  return {real(friction), real(blockage), real(speed(g, body(g, lattice.poses, owner), here, axis))};
}

// The flags of a cell, given those of its faces, for a quantity; with temperatures also for cells inside such bodies
FN int kinds(const Lattice& lattice, const At& c, int solid, bool heat) {
  const auto isothermal = [&](const At& at) {
    const int number = heat ? lattice.number(at.cell, CENTRE) : 0;
    return number && body(lattice.g, lattice.poses, number).isothermal();
  };
  if (isothermal(c)) return HOLDS | ALL_INSULATED;
  if (solid & ITSELF) return STORED | ALL_INSULATED;
  int bits = 0;
  for (int n = 0; n < 6; ++n) bits |= (solid & 1 << n) || isothermal(c.moved(n / 2, n % 2 ? 1 : -1)) ? 1 << 2 * n : 0;
  return bits;
}
FN void write_kinds(None, Index, const Lattice&, const At&, int, bool, bool) {}
FN void write_kinds(OutShort faces, Index c, const Lattice& lattice, const At& at, int solid, bool near, bool heat) {
  faces[c] = (unsigned short)(near ? kinds(lattice, at, solid, heat) : 0);
}

struct SurfaceOut {
  Out friction[3], blockage[3], body[3];
  INLINE void write(Index c, int axis, const FaceGeometry& of) const {
    one(friction, axis)[c] = of.friction, one(blockage, axis)[c] = of.blockage, one(body, axis)[c] = of.body;
  }

private:
  INLINE static Out one(const Out (&q)[3], int axis) { return axis == 0 ? q[0] : axis == 1 ? q[1] : q[2]; }
};

FN void look_for_surfaces(const Lattice& lattice, const SurfaceOut& surface, const Cell& c, int axis, double viscosity) {
  const At at{{c.i, c.j, c.k}};
  surface.write(c, axis, face(lattice, at, axis, lattice.number(at.cell, axis), viscosity));
}

// The flags of cells, and the data of surfaces on their low faces. They belong to the nearest body. Few cells of a warp are
// near surfaces, whose search is slow: a GPU does it afterwards, and all threads of a block share the faces.
TASK place_faces(Range range, OutByte solid, OutByte owner_x, OutByte owner_y, OutByte owner_z, Out friction_x, Out friction_y,
                 Out friction_z, Out blockage_x, Out blockage_y, Out blockage_z, Out body_x, Out body_y, Out body_z
                 OPTIONAL(T_faces) OPTIONAL(scalar_faces), In64Of<54> poses, BodyShapes shapes, real viscosity) {
  const Lattice lattice{shapes, poses};
  const SurfaceOut surface{{friction_x, friction_y, friction_z}, {blockage_x, blockage_y, blockage_z}, {body_x, body_y, body_z}};
#ifdef GPU
  __shared__ Cell beside[BX * BY];
  __shared__ unsigned count;
  const unsigned mine = threadIdx.y * blockDim.x + threadIdx.x;
  if (mine == 0) count = 0;
  __syncthreads();
#endif
  for_cells(range, CELL(c) {
    const At at{{c.i, c.j, c.k}};
    int bits = 0, nearest = 0;
    const double width = lattice.widest(at.cell), by = lattice.nearest(lattice.place(at.cell, CENTRE), nearest);
    const bool near = by < 3.5 * width, deep = by < -2 * width;
    int inside[3] = {deep ? nearest : 0, deep ? nearest : 0, deep ? nearest : 0};  // the bodies that have its low faces
    if (near) bits = deep ? ALL_CLOSED | ITSELF | BESIDE : BESIDE;
    if (by < 0.6 * width) {  // faces are up to half a width away
      bool alone = true;
#pragma unroll 1
      for (int n = 0; n < 6 && !deep; ++n) {
        const int axis = n / 2, high = n % 2, place = axis == 0 ? c.i : axis == 1 ? c.j : c.k;
        const int cells = axis == 0 ? shapes.cells[0] : axis == 1 ? shapes.cells[1] : shapes.cells[2];
        const bool periodic = axis == 0 ? shapes.periodic[0] : axis == 1 ? shapes.periodic[1] : shapes.periodic[2];
        const int number = lattice.number(at.moved(axis, high).cell, axis);
        const bool shut = number > 0;
        bits |= shut ? 1 << n : 0;
#pragma unroll
        for (int m = 0; m < 3; ++m) inside[m] = n == 2 * m ? number : inside[m];
        alone = alone && (shut || (!periodic && place + high == (high ? cells : 0)));
      }
      bits |= alone ? ITSELF : 0;
    }
    if (by < 1.6 * width && by > -0.6 * width) {  // and examine neighbours one step away, where these are outside
#ifdef GPU
      beside[atomicAdd(&count, 1u)] = c;
#else
      for (int axis = 0; axis < 3; ++axis) look_for_surfaces(lattice, surface, c, axis, viscosity);
#endif
    } else {
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) {
        const int number = inside[axis];
        surface.write(c, axis, {0, 0, number ? real(speed(shapes, body(shapes, poses, number), lattice.place(at.cell, axis), axis)) : real(0)});
      }
    }
    const unsigned char owner = by < 4.5 * width ? body(shapes, poses, nearest).owner() : 0;
    solid[c] = (unsigned char)bits;
    owner_x[c] = owner, owner_y[c] = owner, owner_z[c] = owner;
    write_kinds(T_faces, c, lattice, at, bits, near, true);
    write_kinds(scalar_faces, c, lattice, at, bits, near, false);
  });
#ifdef GPU
  __syncthreads();
  for (unsigned n = mine; n < 3 * count; n += blockDim.x * blockDim.y) look_for_surfaces(lattice, surface, beside[n % count], n / count, viscosity);
#endif
}

// Weights of bodies with temperatures in adjacent cells, without and with these temperatures, and the body of a cell
TASK place_heat(Range range, Out conductance_T, Out warm_T, OutByte owner_T, In64Of<54> poses, BodyShapes shapes,
                real diffusivity) {
  const Lattice lattice{shapes, poses};
  for_cells(range, CELL(c) {
    const At at{{c.i, c.j, c.k}};
    double conductance = 0, warm = 0;
    int owner = 0, nearest = 0;
    const Place here = lattice.place(at.cell, CENTRE);
    if (lattice.nearest(here, nearest) < 2 * lattice.widest(at.cell)) {
      const auto holder = [&](const At& cell) {
        const int number = lattice.number(cell.cell, CENTRE);
        return number && body(shapes, poses, number).isothermal() ? number : 0;
      };
      const int own = holder(at);
      if (own) warm = body(shapes, poses, own).temperature(), owner = body(shapes, poses, own).owner();
      for (int n = 0; n < 6; ++n) {
        const int along = n / 2, side = n % 2 ? 1 : -1, other = holder(at.moved(along, side));
        if (!other) continue;
        const Body b = body(shapes, poses, other);
        owner = owner ? owner : b.owner();
        if (own) continue;
        const double step = lattice.step(at.cell, CENTRE, along, side);
        const double share = entry(shapes, poses, here, along, side * step);
        const double near = carried(speed(shapes, b, here, along), side, share, step);
        const double weighs = weight(share, step, lattice.extent(at.cell, CENTRE, along)) +
                              (diffusivity > 0 ? near / diffusivity : 0.0);
        conductance += weighs, warm += weighs * b.temperature();
      }
    }
    conductance_T[c] = real(conductance), warm_T[c] = real(warm), owner_T[c] = (unsigned char)owner;
  });
}
