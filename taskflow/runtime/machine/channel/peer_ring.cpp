// Bytes in order from one process to another through memory that both have mapped: one writer, one reader.
//
// The writer copies bytes into the ring and then moves `written` with release; the reader loads `written` with acquire
// and so sees the bytes. `read` gives the room back the same way. Whoever is about to sleep says so, and then looks
// again; whoever has moved something looks for a sleeper afterwards. A full fence on both sides between the store and
// the load makes sure that one of them sees the other: no wake-up is lost, on x86 or on ARM.

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

constexpr uint64_t CAPACITY = uint64_t{1} << 20;  // so that messages up to this size are written at once
constexpr uint64_t PIECE = uint64_t{1} << 14;     // handed over at once: both sides copy together

static_assert(std::atomic<uint64_t>::is_always_lock_free, "atomics shared by processes must be instructions");

struct Header {
  uint64_t sequence, size;
};

struct Ring {
  alignas(128) std::atomic<uint64_t> written;  // bytes ever written; this line is the writer's
  std::atomic<uint32_t> writer_sleeps, closed;
  alignas(128) std::atomic<uint64_t> read;  // bytes ever read; this line is the reader's
  std::atomic<uint32_t> reader_sleeps;
  alignas(128) char bytes[CAPACITY];

  uint64_t filled() const { return written.load(std::memory_order_acquire) - read.load(std::memory_order_relaxed); }
  uint64_t room() const {
    return CAPACITY - (written.load(std::memory_order_relaxed) - read.load(std::memory_order_acquire));
  }

  void in(uint64_t at, const void* source, uint64_t size) {
    const uint64_t start = at % CAPACITY, first = std::min(size, CAPACITY - start);
    std::memcpy(bytes + start, source, first);
    std::memcpy(bytes, static_cast<const char*>(source) + first, size - first);
  }
  void out(uint64_t at, void* target, uint64_t size) const {
    const uint64_t start = at % CAPACITY, first = std::min(size, CAPACITY - start);
    std::memcpy(target, bytes + start, first);
    std::memcpy(static_cast<char*>(target) + first, bytes, size - first);
  }
};

void wake(std::atomic<uint32_t>& sleeps, int bell) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleeps.load(std::memory_order_relaxed) && sleeps.exchange(0, std::memory_order_relaxed))
    send(bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);  // full of rings, or hung up: heard anyway
}

void write(Ring& ring, uint64_t written, int bell) {
  ring.written.store(written, std::memory_order_release);
  wake(ring.reader_sleeps, bell);
}

void read(Ring& ring, uint64_t read, int bell) {
  ring.read.store(read, std::memory_order_release);
  wake(ring.writer_sleeps, bell);
}

}  // namespace

extern "C" {

uint64_t ring_bytes() { return sizeof(Ring); }

// Bytes that went into the ring, as many as there is room for. The peer is woken through the socket `bell`.
int64_t ring_put(Ring* ring, int bell, const char* source, uint64_t size) {
  uint64_t done = 0, written = ring->written.load(std::memory_order_relaxed);
  while (done < size) {
    const uint64_t piece = std::min({PIECE, size - done, ring->room()});
    if (piece == 0) break;
    ring->in(written, source + done, piece);
    write(*ring, written += piece, bell);
    done += piece;
  }
  return done;
}

// Begin a message: its header and what there is room for of its bytes; -1 where there is no room for the header.
int64_t ring_begin(Ring* ring, int bell, uint64_t sequence, const char* source, uint64_t size) {
  const uint64_t room = ring->room(), written = ring->written.load(std::memory_order_relaxed);
  if (room < sizeof(Header)) return -1;
  const Header header{sequence, size};
  const uint64_t piece = std::min({PIECE, size, room - sizeof(Header)});
  ring->in(written, &header, sizeof header);
  ring->in(written + sizeof header, source, piece);
  write(*ring, written + sizeof header + piece, bell);
  return piece < size ? piece + ring_put(ring, bell, source + piece, size - piece) : piece;
}

// Bytes that came out of the ring, as many as there are.
int64_t ring_take(Ring* ring, int bell, char* target, uint64_t size) {
  uint64_t done = 0, position = ring->read.load(std::memory_order_relaxed);
  while (done < size) {
    const uint64_t piece = std::min({PIECE, size - done, ring->filled()});
    if (piece == 0) break;
    ring->out(position, target + done, piece);
    read(*ring, position += piece, bell);
    done += piece;
  }
  return done;
}

// Take the header of the next message; 0 where none has come.
int ring_next(Ring* ring, int bell, Header* header) {
  if (ring->filled() < sizeof(Header)) return 0;  // a header is published whole
  const uint64_t position = ring->read.load(std::memory_order_relaxed);
  ring->out(position, header, sizeof *header);
  read(*ring, position + sizeof *header, bell);
  return 1;
}

// Ask to be woken when bytes come; 0 where there are some.
int ring_await_bytes(Ring* ring) {
  ring->reader_sleeps.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ring->filled() == 0;
}

// Ask to be woken when there is room; 0 where a message could begin.
int ring_await_room(Ring* ring) {
  ring->writer_sleeps.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ring->room() < sizeof(Header);
}

// The owner of an end is awake: nobody needs to wake it.
void ring_awake(Ring* read, Ring* written) {
  read->reader_sleeps.store(0, std::memory_order_relaxed);
  written->writer_sleeps.store(0, std::memory_order_relaxed);
}

// The writer will write no more.
void ring_close(Ring* ring) { ring->closed.store(1, std::memory_order_release); }

int ring_closed(const Ring* ring) { return ring->closed.load(std::memory_order_acquire); }
}
