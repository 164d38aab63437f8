// Periodic bytes to all peers that have presented the token, from a thread that needs no interpreter: they show that
// the process is alive, however long the interpreter is held.
//
// Strangers get nothing: a peer that does not present the token within MOMENT is disconnected, as is the oldest one if
// there are too many. They never displace peers that have presented it.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t MOST = 64;            // listeners, and as many strangers, to save file descriptors
constexpr std::chrono::seconds MOMENT{30};  // for a token to arrive

struct Visitor {
  int connection;
  Clock::time_point came;
  std::size_t told;  // bytes of the token received so far
};

bool again() { return errno == EAGAIN || errno == EINTR || errno == ENOBUFS; }

bool beat(int connection) {
  return send(connection, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 || again();  // a slow reader may read later
}

// Read from the visitor; false if it has sent something else, or left.
bool hear(Visitor& visitor, const std::string& token) {
  char words[256];
  const ssize_t size = recv(visitor.connection, words, token.size() - visitor.told, MSG_DONTWAIT);
  if (size < 0) return again();
  unsigned char difference = size == 0;  // compares all bytes, in constant time
  for (ssize_t i = 0; i < size; ++i) difference |= words[i] ^ token[visitor.told + i];
  visitor.told += size;
  return difference == 0;
}

}  // namespace

extern "C" void heartbeat_run(int door, int milliseconds, const char* secret, int size) {
  const std::string token(secret, size);
  const std::chrono::milliseconds interval(milliseconds);
  std::vector<Visitor> strangers;
  std::vector<int> listeners;
  auto next = Clock::now() + interval;
  for (bool open = true;; ) {
    std::vector<pollfd> waiting;
    for (const Visitor& each : strangers) waiting.push_back({each.connection, POLLIN, 0});
    if (open) waiting.push_back({door, POLLIN, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    poll(waiting.data(), waiting.size(), left > 0 ? left : 0);
    if (open && waiting.back().revents) {
      const int visitor = accept4(door, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      open = visitor >= 0;  // without free file descriptors, retry after the next beat
      if (open) strangers.push_back({visitor, Clock::now(), 0});
    }
    const auto now = Clock::now();
    std::vector<Visitor> unknown;
    for (std::size_t i = 0; i < strangers.size(); ++i) {
      Visitor& each = strangers[i];
      const bool patient = now - each.came < MOMENT && strangers.size() - i <= MOST;
      if (!hear(each, token)) {
        close(each.connection);
      } else if (each.told == token.size() && listeners.size() < MOST && beat(each.connection)) {
        listeners.push_back(each.connection);
      } else if (each.told < token.size() && patient) {
        unknown.push_back(each);
      } else {
        close(each.connection);
      }
    }
    strangers.swap(unknown);
    if (now < next) continue;
    std::vector<int> alive;
    for (const int connection : listeners) {
      if (beat(connection)) {
        alive.push_back(connection);
      } else {
        close(connection);
      }
    }
    listeners.swap(alive);
    next = now + interval;
    open = true;
  }
}
