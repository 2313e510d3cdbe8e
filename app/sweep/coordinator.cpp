// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sweep/coordinator.h"

#include <algorithm>
#include <iostream>

namespace trainyard::sweep {

namespace {

constexpr double kAliveEvery = 1; // seconds
constexpr double kIdle = 0.0005; // seconds between looks, where there is nothing to do
constexpr double kLastWords = 2; // seconds for what is on its way when all is over

double secondsSince(std::chrono::steady_clock::time_point then)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

std::string packedChunk(const SweepChunk &chunk)
{
    return packed({ chunk.range.first, chunk.range.count, chunk.counts.feasible, chunk.counts.infeasible,
               chunk.counts.refused })
        + chunk.lines;
}

SweepChunk unpackedChunk(const std::string &bytes)
{
    const auto n = unpacked(bytes, 5);
    return { { n[0], n[1] }, { n[2], n[3], n[4] },
        bytes.substr(std::min(bytes.size(), n.size() * sizeof(std::uint64_t))) };
}

void leave(Mailbox &mail)
{
    for (const auto since = std::chrono::steady_clock::now(); !mail.isIdle() && secondsSince(since) < kLastWords;) { }
}

} // namespace

Coordinator::Coordinator(Mailbox &mail, SweepWorkers &workers, SweepFile &file, std::uint64_t rows, double lostAfter)
    : m_mail(mail)
    , m_workers(workers)
    , m_rows(rows)
    , m_lostAfter(lostAfter)
    , m_there(file.rowsThere())
    , m_board(file.rowsThere(), rows, workers.threads() * std::size_t(Mailbox::ranks()),
          [&file](std::string_view lines) { return file.append(lines); })
    , m_peers(std::size_t(Mailbox::ranks()))
{
}

bool Coordinator::hasLost() const
{
    return std::ranges::any_of(m_peers, &Peer::isLost);
}

Expected<void> Coordinator::hear()
{
    while (const auto message = m_mail.receive()) {
        Peer &peer = m_peers.at(std::size_t(message->from));
        peer.heard = Clock::now();
        if (std::exchange(peer.isLost, false))
            std::cerr << "rank " << message->from << " is back\n";
        if (message->tag == kAsk)
            peer.wanted += unpacked(message->bytes, 1)[0];
        if (message->tag != kChunk)
            continue;
        ++peer.wanted;
        if (auto taken = m_board.take(unpackedChunk(message->bytes)); !taken)
            return taken;
    }
    return {};
}

Expected<bool> Coordinator::takeOwn(double seconds)
{
    const auto chunk = m_workers.next(seconds);
    if (!chunk)
        return std::unexpected(chunk.error());
    if (*chunk) {
        if (auto taken = m_board.take(**chunk); !taken)
            return std::unexpected(std::move(taken.error()));
    }
    return chunk->has_value();
}

void Coordinator::deal()
{
    for (bool hasDealt = true; std::exchange(hasDealt, false);) {
        if (m_workers.held() < 2 * m_workers.threads())
            if (const auto range = m_board.deal(0)) {
                m_workers.give(*range);
                hasDealt = true;
            }
        for (std::size_t rank = 1; rank < m_peers.size(); ++rank) {
            if (m_peers[rank].wanted == 0 || m_peers[rank].isLost)
                continue;
            const auto range = m_board.deal(int(rank));
            if (!range)
                return;
            --m_peers[rank].wanted;
            m_mail.send(int(rank), kRange, packed({ range->first, range->count }));
            hasDealt = true;
        }
    }
}

void Coordinator::watch()
{
    if (secondsSince(m_told) < kAliveEvery)
        return;
    m_told = Clock::now();
    (void)m_mail.isIdle();
    for (std::size_t rank = 1; rank < m_peers.size(); ++rank) {
        Peer &peer = m_peers[rank];
        if (peer.isLost)
            continue;
        if (secondsSince(peer.heard) > m_lostAfter) {
            peer.isLost = true;
            const std::uint64_t rows = m_board.lose(int(rank));
            std::cerr << "rank " << rank << " is lost: nothing heard of it for " << m_lostAfter << " s; others do its "
                      << rows << " rows again\n";
        } else {
            m_mail.send(int(rank), kAlive, {});
        }
    }
}

void Coordinator::end()
{
    for (std::size_t rank = 1; rank < m_peers.size(); ++rank)
        m_mail.send(int(rank), kEnd, packed({ hasLost() ? 0u : 1u }));
    leave(m_mail);
}

Expected<SweepEnd> Coordinator::run(
    const std::stop_token &stop, const std::function<void(const SweepProgress &)> &onProgress)
{
    Expected<void> fault;
    while (!m_board.isComplete() && !stop.stop_requested() && fault) {
        deal();
        if (fault = hear(); !fault)
            break;
        if (const auto own = takeOwn(kIdle); !own)
            fault = std::unexpected(own.error());
        watch();
        onProgress({ m_board.written(), m_rows, m_board.counts() });
    }
    end();
    if (!fault)
        return std::unexpected(std::move(fault.error()));
    return SweepEnd { m_there, m_board.written(), m_board.counts(), !m_board.isComplete() };
}

bool work(Mailbox &mail, SweepWorkers &workers, double lostAfter)
{
    auto heard = std::chrono::steady_clock::now(), told = heard;
    mail.send(0, kAsk, packed({ 2 * workers.threads() }));
    while (true) {
        while (const auto message = mail.receive()) {
            heard = std::chrono::steady_clock::now();
            if (message->tag == kEnd)
                return unpacked(message->bytes, 1)[0] != 0;
            if (message->tag == kRange) {
                const auto n = unpacked(message->bytes, 2);
                workers.give({ n[0], n[1] });
            }
        }
        const auto chunk = workers.next(kIdle);
        if (!chunk) {
            std::cerr << "rank " << Mailbox::rank() << ": " << toString(chunk.error()) << '\n';
            return false;
        }
        if (*chunk)
            mail.send(0, kChunk, packedChunk(**chunk));
        if (*chunk || secondsSince(told) > kAliveEvery) {
            if (!*chunk)
                mail.send(0, kAlive, {});
            told = std::chrono::steady_clock::now();
            (void)mail.isIdle();
        }
        if (secondsSince(heard) > lostAfter) {
            std::cerr << "rank " << Mailbox::rank() << ": nothing heard of rank 0 for " << lostAfter << " s\n";
            return false;
        }
    }
}

} // namespace trainyard::sweep
