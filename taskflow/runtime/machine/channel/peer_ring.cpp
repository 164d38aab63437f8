// Byte queue from one process to another through memory that both have mapped: one writer, one reader.
//
// The writer copies bytes into the ring and then stores `written` with release. The reader loads `written` with acquire
// and so sees the bytes. `read` returns the space in the same way. A side that is about to sleep sets its flag and then
// checks again; a side that has moved bytes checks the flag afterwards. A full fence between the store and the load on
// both sides guarantees that one of them sees the other: no wake-up is lost, on x86 or on ARM.

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace {

constexpr uint64_t CAPACITY = uint64_t{1} << 20;  // messages up to this size are written in one call
constexpr uint64_t PIECE = uint64_t{1} << 14;     // published together: both sides copy concurrently

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
    send(bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);  // full of rings, or closed: noticed anyway
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

// Write as many bytes as fit, and return their number. The peer is woken through the socket `bell`.
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

// Begin a message: write its header and as many bytes as fit, and return their number; -1 if the header does not fit.
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

// Read the bytes that have arrived, and return their number.
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

// Read the header of the next message; return 0 if none has arrived.
int ring_next(Ring* ring, int bell, Header* header) {
  if (ring->filled() < sizeof(Header)) return 0;  // a header is published whole
  const uint64_t position = ring->read.load(std::memory_order_relaxed);
  ring->out(position, header, sizeof *header);
  read(*ring, position + sizeof *header, bell);
  return 1;
}

// Request to be woken when bytes arrive; return 0 if some have.
int ring_await_bytes(Ring* ring) {
  ring->reader_sleeps.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ring->filled() == 0;
}

// Request to be woken when there is space; return 0 if a header fits already.
int ring_await_room(Ring* ring) {
  ring->writer_sleeps.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return ring->room() < sizeof(Header);
}

// The owner of an end is awake and needs no wake-up.
void ring_awake(Ring* read, Ring* written) {
  read->reader_sleeps.store(0, std::memory_order_relaxed);
  written->writer_sleeps.store(0, std::memory_order_relaxed);
}

// Announce that the writer has finished.
void ring_close(Ring* ring) { ring->closed.store(1, std::memory_order_release); }

int ring_closed(const Ring* ring) { return ring->closed.load(std::memory_order_acquire); }
}
