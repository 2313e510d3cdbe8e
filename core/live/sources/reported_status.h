#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How a source is, as it tells it to its sink: at once where its state changes, at most ten times a second where only
// figures grow. Silence is told as stale by whoever shows it (feed.h). Loop's thread alone.

#include "core/live/net/loop.h"
#include "core/live/source.h"

#include <string>

namespace trainyard::live {

class ReportedStatus {
public:
    ReportedStatus(net::Loop &loop, SourceSink &sink, const Address &address);

    [[nodiscard]] const SourceStatus &now() const { return m_status; }
    [[nodiscard]] SourceState state() const { return m_status.state; }
    void set(SourceState state, std::string reason = {}, double secondsToTry = 0);
    void setAddress(const Address &address) { m_status.address = address; }
    /// What set() says meanwhile is shown afterwards.
    void setPaused(bool isPaused, std::string reason = "what comes is counted as dropped");
    [[nodiscard]] bool isPaused() const { return m_isPaused; }
    void setClients(int clients);
    void countTry();
    /// a connection came about
    void forgetTries();
    [[nodiscard]] std::int64_t tries() const { return m_status.tries; }
    /// makes it live
    void hear(std::size_t bytes, int batches = 0);
    /// by the source itself: what a full queue drops, the sink counts
    void drop(std::size_t bytes);
    void refuseClient(const std::string &note);
    /// once each, the latest 20
    void note(const std::string &text);
    /// nothing is told any more, until set()
    void stop();

private:
    /// soon
    void changed();
    /// now
    void tell();

    SourceSink &m_sink;
    net::Timer m_soon;
    SourceStatus m_status;
    bool m_isPaused = false;
    /// a pause: the state that it would have
    SourceState m_behind = SourceState::Idle;
    std::string m_reasonBehind;
};

} // namespace trainyard::live
