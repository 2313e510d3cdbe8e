// SPDX-License-Identifier: GPL-3.0-or-later
// A wide-area link's latency without a kernel's help: packets that one network namespace sends to its TUN device come
// out of another's a fixed time later, in their order. Bandwidth is not its business (tbf does that before it), nor
// does it lose anything: a packet is read as soon as it is there. Two threads a direction: one reads, one waits.
//
//   delay_line NAMESPACE_A NAMESPACE_B      writes "ready", reads one-way times in microseconds, a line each, and ends
//                                           when its standard input does
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const std::string &what)
{
    std::perror(("delay_line: " + what).c_str());
    std::exit(1);
}

/// The TUN device "tun0" of a namespace. The calling thread is there afterwards.
int tunOf(const char *name)
{
    const std::string path = std::string("/run/netns/") + name;
    const int space = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0)
        fail(path);
    close(space);
    const int tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (tun < 0)
        fail("/dev/net/tun");
    ifreq request {};
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    std::strcpy(request.ifr_name, "tun0");
    if (ioctl(tun, TUNSETIFF, &request) != 0)
        fail("tun0");
    return tun;
}

std::int64_t now()
{
    timespec time {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * std::int64_t(1'000'000'000) + time.tv_nsec;
}

struct Packet {
    std::int64_t due = 0;
    std::vector<char> bytes;
};

class Way {
public:
    Way(int from, int to)
        : m_from(from)
        , m_to(to)
        , m_reader([this] { read(); })
        , m_writer([this] { write(); })
    {
    }

    void setDelay(std::int64_t nanoseconds) { m_delay = nanoseconds; }

private:
    void read()
    {
        std::vector<char> buffer(70'000);
        for (;;) {
            const ssize_t size = ::read(m_from, buffer.data(), buffer.size());
            if (size <= 0)
                continue;
            Packet packet { now() + m_delay, { buffer.begin(), buffer.begin() + size } };
            const std::lock_guard lock(m_mutex);
            m_packets.push_back(std::move(packet));
            m_isThere.notify_one();
        }
    }

    void write()
    {
        for (;;) {
            Packet packet;
            {
                std::unique_lock lock(m_mutex);
                m_isThere.wait(lock, [this] { return !m_packets.empty(); });
                packet = std::move(m_packets.front());
                m_packets.pop_front();
            }
            const timespec due { packet.due / 1'000'000'000, packet.due % 1'000'000'000 };
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) != 0) { }
            if (::write(m_to, packet.bytes.data(), packet.bytes.size()) < 0
                && errno != EIO) // a device that is not up yet: IPv6 looking for neighbours
                std::perror("delay_line: a packet is lost");
        }
    }

    int m_from, m_to;
    std::atomic<std::int64_t> m_delay = 0; // ns
    std::mutex m_mutex;
    std::condition_variable m_isThere;
    std::deque<Packet> m_packets;
    std::thread m_reader, m_writer; // last: they use the others
};

} // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        std::fprintf(stderr, "usage: delay_line NAMESPACE_A NAMESPACE_B\n");
        return 2;
    }
    const int a = tunOf(arguments[1]), b = tunOf(arguments[2]);
    Way there(a, b), back(b, a);
    std::puts("ready");
    std::fflush(stdout);
    for (double microseconds = 0; std::scanf("%lf", &microseconds) == 1;) {
        there.setDelay(std::int64_t(microseconds * 1000));
        back.setDelay(std::int64_t(microseconds * 1000));
    }
    std::_Exit(0);
}
