// A byte now and then to everybody who has connected, from a thread that needs no interpreter: it says that the process
// is there and runs, however long the interpreter is held by what else it does.

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t MOST = 64;  // connections: strangers cannot use up what the process may open

bool beat(int connection) {
  const bool sent = send(connection, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
  return sent || errno == EAGAIN || errno == EINTR || errno == ENOBUFS;  // who does not read now may read later
}

}  // namespace

extern "C" void pulse_run(int door, int milliseconds) {
  std::vector<int> connections;
  for (;;) {
    pollfd waiting{door, POLLIN, 0};
    if (poll(&waiting, 1, milliseconds) > 0) {
      const int visitor = accept4(door, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (visitor < 0) {
        usleep(1000 * milliseconds);
      } else if (connections.size() < MOST) {
        connections.push_back(visitor);
      } else {
        close(visitor);
      }
    }
    std::vector<int> alive;
    for (const int connection : connections) {
      if (beat(connection)) {
        alive.push_back(connection);
      } else {
        close(connection);
      }
    }
    connections.swap(alive);
  }
}
