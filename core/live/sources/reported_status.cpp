// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/sources/reported_status.h"

#include "core/base/units.h"

#include <algorithm>

namespace trainyard::live {

namespace {

constexpr double kTellSeconds = 0.1;
constexpr std::size_t kMostNotes = 20, kMostNoteBytes = 300;

} // namespace

ReportedStatus::ReportedStatus(net::Loop &loop, SourceSink &sink, const Address &address)
    : m_sink(sink)
    , m_soon(loop)
{
    m_status.address = address;
    m_status.since = unixNow();
}

void ReportedStatus::set(SourceState state, std::string reason, double secondsToTry)
{
    m_behind = state;
    m_reasonBehind = reason;
    const Moment now = unixNow();
    const Moment next = secondsToTry > 0 ? now + Moment(secondsToTry * kNanosecondsPerSecond) : 0;
    if (m_isPaused && state != SourceState::Refused && state != SourceState::Ended)
        return;
    if (m_status.state != state)
        m_status.since = now;
    else if (m_status.reason == reason && m_status.nextTry == next)
        return;
    m_status.state = state;
    m_status.reason = std::move(reason);
    m_status.nextTry = next;
    tell();
}

void ReportedStatus::setPaused(bool isPaused, std::string reason)
{
    if (m_isPaused == isPaused)
        return;
    if (isPaused) {
        m_behind = m_status.state;
        m_reasonBehind = m_status.reason;
    }
    m_isPaused = isPaused;
    m_status.state = isPaused ? SourceState::Paused : m_behind;
    m_status.reason = isPaused ? std::move(reason) : m_reasonBehind;
    m_status.since = unixNow();
    tell();
}

void ReportedStatus::setClients(int clients)
{
    if (m_status.clients == clients)
        return;
    m_status.clients = clients;
    changed();
}

void ReportedStatus::countTry()
{
    ++m_status.tries;
}

void ReportedStatus::forgetTries()
{
    m_status.tries = 0;
}

void ReportedStatus::hear(std::size_t bytes, int batches)
{
    m_status.heard = unixNow();
    m_status.bytes += std::int64_t(bytes);
    m_status.batches += batches;
    if ((m_isPaused ? m_behind : m_status.state) != SourceState::Live)
        set(SourceState::Live);
    changed();
}

void ReportedStatus::drop(std::size_t bytes)
{
    m_status.dropped += std::int64_t(bytes);
    changed();
}

void ReportedStatus::refuseClient(const std::string &text)
{
    ++m_status.refusedClients;
    note(text);
}

void ReportedStatus::note(const std::string &text)
{
    const std::string cut = text.substr(0, kMostNoteBytes);
    auto &notes = m_status.notes;
    if (std::ranges::find(notes, cut) == notes.end()) {
        if (notes.size() >= kMostNotes)
            notes.erase(notes.begin());
        notes.push_back(cut);
    }
    changed();
}

void ReportedStatus::stop()
{
    m_soon.cancel();
}

void ReportedStatus::changed()
{
    if (!m_soon.isActive())
        m_soon.start(kTellSeconds, [this] { m_sink.status(m_status); });
}

void ReportedStatus::tell()
{
    m_soon.cancel();
    m_sink.status(m_status);
}

} // namespace trainyard::live
