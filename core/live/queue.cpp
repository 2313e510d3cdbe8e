// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/queue.h"

#include <utility>

namespace trainyard::live {

namespace {

constexpr std::size_t kOfOne = 256; // what a piece takes beside its bytes, about
constexpr std::size_t kJoined = std::size_t(64) << 10; // pieces of one connection are joined up to here
constexpr Moment kJoinedTime = 10'000'000; // ns between their moments
constexpr std::size_t kShare = 4; // of a source: times what is free

} // namespace

bool WorkQueue::hasRoom(std::uint32_t source, std::size_t size) const
{
    if (m_size == 0) // one piece is taken, however long it is
        return true;
    const auto known = m_sizes.find(source);
    const std::size_t own = known != m_sizes.end() ? known->second : 0;
    const std::size_t free = m_size < m_most ? m_most - m_size : 0;
    return size <= free && own + size <= kShare * free;
}

void WorkQueue::push(Work &&work)
{
    m_size += work.size;
    m_sizes[work.source] += work.size;
    m_work.push_back(std::move(work));
    ++m_pushed;
    m_some.notify_one();
}

bool WorkQueue::pushBytes(std::uint32_t source, std::uint64_t connection, std::string_view bytes, Moment received)
{
    const std::lock_guard lock(m_mutex);
    if (m_isStopped)
        return false;
    const auto skipped = m_skipped.find({ source, connection });
    if (!m_work.empty() && skipped == m_skipped.end()) {
        Work &last = m_work.back();
        if (last.kind == Work::Kind::Bytes && last.source == source && last.connection == connection
            && last.bytes.size() + bytes.size() <= kJoined && received - last.received < kJoinedTime
            && hasRoom(source, bytes.size())) {
            last.bytes += bytes;
            last.size += bytes.size();
            m_size += bytes.size();
            m_sizes[source] += bytes.size();
            return true;
        }
    }
    if (!hasRoom(source, bytes.size() + kOfOne))
        return false;
    Work work;
    work.source = source;
    work.connection = connection;
    work.bytes = bytes;
    work.size = bytes.size() + kOfOne;
    work.received = received;
    if (skipped != m_skipped.end()) {
        work.skipped = skipped->second;
        m_skipped.erase(skipped);
    }
    push(std::move(work));
    return true;
}

void WorkQueue::skip(std::uint32_t source, std::uint64_t connection, std::int64_t bytes)
{
    const std::lock_guard lock(m_mutex);
    if (!m_isStopped)
        m_skipped[{ source, connection }] += bytes;
}

bool WorkQueue::pushWhole(Work &&work)
{
    const std::lock_guard lock(m_mutex);
    work.kind = Work::Kind::Whole;
    work.size += kOfOne;
    if (m_isStopped || !hasRoom(work.source, work.size))
        return false;
    push(std::move(work));
    return true;
}

void WorkQueue::pushMark(Work &&work)
{
    const std::lock_guard lock(m_mutex);
    if (m_isStopped)
        return;
    if (work.kind == Work::Kind::Closed) {
        if (const auto skipped = m_skipped.find({ work.source, work.connection }); skipped != m_skipped.end()) {
            work.skipped = skipped->second;
            m_skipped.erase(skipped);
        }
    } else if (work.kind == Work::Kind::AllClosed) {
        m_skipped.erase(
            m_skipped.lower_bound({ work.source, 0 }), m_skipped.upper_bound({ work.source, ~std::uint64_t(0) }));
    }
    work.size = kOfOne;
    push(std::move(work));
}

std::optional<Work> WorkQueue::pop()
{
    std::unique_lock lock(m_mutex);
    m_some.wait(lock, [&] { return m_isStopped || !m_work.empty(); });
    if (m_isStopped)
        return std::nullopt;
    Work work = std::move(m_work.front());
    m_work.pop_front();
    return work;
}

void WorkQueue::done(std::uint32_t source, std::size_t size)
{
    const std::lock_guard lock(m_mutex);
    m_size -= size;
    if (const auto known = m_sizes.find(source); known != m_sizes.end() && (known->second -= size) == 0)
        m_sizes.erase(known);
    ++m_done;
    m_drained.notify_all();
}

void WorkQueue::drain()
{
    std::unique_lock lock(m_mutex);
    const std::uint64_t all = m_pushed;
    m_drained.wait(lock, [&] { return m_isStopped || m_done >= all; });
}

void WorkQueue::stop()
{
    const std::lock_guard lock(m_mutex);
    m_isStopped = true;
    m_some.notify_all();
    m_drained.notify_all();
}

std::size_t WorkQueue::bytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_size;
}

} // namespace trainyard::live
