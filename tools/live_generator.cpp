// SPDX-License-Identifier: GPL-3.0-or-later
// live-generator HOST PORT: a made-up run that tells of itself as lines of JSON (docs/live-stream.md), at a steady
// rate, for measuring what listens (scripts/live-soak). Every rank computes and then reduces, kernel by kernel; one
// step takes a second. Each connection speaks for its share of the ranks; whatever is not taken in time makes it late,
// which it says at its end, as JSON on stdout.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Asked {
    std::string host = "127.0.0.1";
    int port = 0;
    double perSecond = 200'000; // events: spans and collectives
    double seconds = 60;
    int ranks = 16, connections = 4;
};

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kPerLine = 256, kSlicesPerStep = 50;

void append(std::string &text, std::int64_t number)
{
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text.append(digits, std::size_t(end - digits));
}

/// `count` kernels of a rank in [start, start + length), one after the other, every fourth of them an all-reduce.
void appendSpans(std::string &text, int rank, std::int64_t start, std::int64_t length, int count)
{
    for (int from = 0; from < count; from += kPerLine) {
        const int here = std::min(kPerLine, count - from);
        const auto column = [&](const char *key, auto value) {
            text += key;
            for (int i = 0; i < here; ++i) {
                text += i ? ',' : '[';
                append(text, value(from + i));
            }
            text += ']';
        };
        const std::int64_t each = length / count;
        text += "{\"event\":\"spans\",\"rank\":";
        append(text, rank);
        text += ",\"stream\":\"compute\",\"work\":\"compute\",\"name\":\"gemm\"";
        column(",\"start_ns\":", [&](int i) { return start + i * each; });
        column(",\"duration_ns\":", [&](int i) { return each - 200 - (i * 37) % 500; });
        text += "}\n";
    }
}

class Speaker {
public:
    Speaker(const Asked &asked, int first, int last)
        : m_asked(asked)
        , m_first(first)
        , m_last(last)
    {
    }
    std::int64_t sent = 0, bytes = 0;
    double mostLate = 0; // seconds
    std::string fault;

    void run()
    {
        m_socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in to {};
        to.sin_family = AF_INET;
        to.sin_port = htons(std::uint16_t(m_asked.port));
        if (inet_pton(AF_INET, m_asked.host.c_str(), &to.sin_addr) != 1
            || ::connect(m_socket, reinterpret_cast<const sockaddr *>(&to), sizeof to) != 0) {
            fault = std::string("cannot connect: ") + std::strerror(errno);
            return;
        }
        speak();
        ::close(m_socket);
    }

private:
    void speak()
    {
        std::string text;
        for (int rank = m_first; rank < m_last; ++rank) {
            text +=
                "{\"event\":\"hello\",\"format\":\"trainyard.stream\",\"version\":1,\"run\":\"generated\",\"rank\":";
            append(text, rank);
            text += ",\"world_size\":";
            append(text, m_asked.ranks);
            text += ",\"host\":\"n";
            append(text, rank / 8);
            text += "\"}\n";
        }
        const std::int64_t zero =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
                .count();
        const auto begin = Clock::now();
        const double each = m_asked.perSecond / m_asked.ranks / kSlicesPerStep; // spans of a rank and a slice
        double owed = 0;
        const std::int64_t slices = std::int64_t(m_asked.seconds * kSlicesPerStep);
        for (std::int64_t slice = 0; slice < slices && fault.empty(); ++slice) {
            const auto due = begin + std::chrono::nanoseconds((slice + 1) * kSecond / kSlicesPerStep);
            owed += each;
            const int count = int(owed);
            owed -= count;
            const std::int64_t start = zero + slice * kSecond / kSlicesPerStep;
            for (int rank = m_first; rank < m_last && count > 0; ++rank)
                appendSpans(text, rank, start, kSecond / kSlicesPerStep, count);
            sent += std::int64_t(count) * (m_last - m_first);
            if ((slice + 1) % kSlicesPerStep == 0)
                endStep(text, zero, (slice + 1) / kSlicesPerStep - 1);
            std::this_thread::sleep_until(due);
            send(text);
            text.clear();
            mostLate = std::max(mostLate, std::chrono::duration<double>(Clock::now() - due).count());
        }
        send("{\"event\":\"end\"}\n");
    }

    void endStep(std::string &text, std::int64_t zero, std::int64_t step)
    {
        for (int rank = m_first; rank < m_last; ++rank) {
            text += "{\"event\":\"step\",\"rank\":";
            append(text, rank);
            text += ",\"number\":";
            append(text, step);
            text += ",\"start_ns\":";
            append(text, zero + step * kSecond);
            text += ",\"end_ns\":";
            append(text, zero + (step + 1) * kSecond);
            text += "}\n{\"event\":\"sample\",\"name\":\"memory_used\",\"unit\":\"B\",\"rank\":";
            append(text, rank);
            text += ",\"value\":";
            append(text, 60'000'000'000 + (step * 7919 % 1000) * 1'000'000);
            text += ",\"at_ns\":";
            append(text, zero + (step + 1) * kSecond);
            text += "}\n";
        }
    }

    void send(std::string_view text)
    {
        bytes += std::int64_t(text.size());
        while (!text.empty() && fault.empty()) {
            const auto put = ::send(m_socket, text.data(), text.size(), MSG_NOSIGNAL);
            if (put < 0 && errno != EINTR)
                fault = std::string("cannot send: ") + std::strerror(errno);
            else if (put > 0)
                text.remove_prefix(std::size_t(put));
        }
    }

    const Asked &m_asked;
    int m_first, m_last, m_socket = -1;
};

} // namespace

int main(int argc, char **argv)
{
    Asked asked;
    if (argc < 3) {
        std::fprintf(stderr, "usage: live-generator HOST PORT [EVENTS_PER_SECOND [SECONDS [RANKS [CONNECTIONS]]]]\n");
        return 2;
    }
    asked.host = argv[1];
    asked.port = std::atoi(argv[2]);
    const auto number = [&](int at, double otherwise, double least, double most) {
        return argc > at ? std::clamp(std::atof(argv[at]), least, most) : otherwise;
    };
    asked.perSecond = number(3, asked.perSecond, 1, 1e8);
    asked.seconds = number(4, asked.seconds, 1, 86'400);
    asked.ranks = int(number(5, asked.ranks, 1, 4'096));
    asked.connections = int(number(6, asked.connections, 1, asked.ranks));
    std::vector<Speaker> speakers;
    for (int i = 0; i < asked.connections; ++i)
        speakers.emplace_back(asked, asked.ranks * i / asked.connections, asked.ranks * (i + 1) / asked.connections);
    {
        std::vector<std::jthread> threads;
        for (Speaker &speaker : speakers)
            threads.emplace_back([&speaker] { speaker.run(); });
    }
    std::int64_t sent = 0, bytes = 0;
    double late = 0;
    std::string fault;
    for (const Speaker &speaker : speakers) {
        sent += speaker.sent;
        bytes += speaker.bytes;
        late = std::max(late, speaker.mostLate);
        fault = fault.empty() ? speaker.fault : fault;
    }
    std::printf("{\"events\": %lld, \"bytes\": %lld, \"most_late_s\": %.3f, \"fault\": \"%s\"}\n",
        static_cast<long long>(sent), static_cast<long long>(bytes), late, fault.c_str());
    return fault.empty() ? 0 : 1;
}
