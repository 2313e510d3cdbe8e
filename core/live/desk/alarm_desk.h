#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Alarms over hours: what a watchman tells becomes numbered alarms that are raised, cleared, acknowledged and muted,
// each of which is a line of the log; who is to be notified is, once an alarm. Another program may acknowledge and mute
// in the same log meanwhile. One thread at a time; nothing here waits for who is notified.

#include "core/live/alarms/watchman.h"
#include "core/live/desk/alarm_log.h"
#include "core/live/desk/notifier.h"

#include <optional>
#include <set>

namespace trainyard::desk {

struct DeskOptions {
    AlarmSetup setup;
    /// empty: what happens is kept in memory alone
    std::string logPath;
    /// of the user's own: webhooks beyond this machine are notified as well
    bool allowsWebhooksAnywhere = false;
    /// of the run, for who is notified
    std::string run;
    NotifierOptions delivery;
};

/// An alarm by its number, or all of a rule.
struct Whom {
    std::int64_t number = 0;
    std::string rule;
};

class AlarmDesk {
public:
    /// Errors: of the log, of webhooks beyond this machine, of files of tokens.
    [[nodiscard]] static ExpectedAll<std::unique_ptr<AlarmDesk>> open(DeskOptions options);
    ~AlarmDesk();
    AlarmDesk(const AlarmDesk &) = delete;
    AlarmDesk &operator=(const AlarmDesk &) = delete;

    /// What the watchman tells now (Watchman::alarms()); the number of each. `now`: Unix ns.
    std::vector<std::int64_t> look(const std::vector<watch::Alarm> &alarms, Moment now);

    /// Errors: BadValue where there is no such alarm; CannotWrite of the log.
    [[nodiscard]] Expected<void> acknowledge(
        std::int64_t number, const std::string &by, const std::string &note, Moment now);
    /// Errors: an end that is not ahead of `now`, or further than 30 days.
    [[nodiscard]] Expected<void> mute(
        const Whom &whom, Moment until, const std::string &by, const std::string &note, Moment now);
    [[nodiscard]] Expected<void> unmute(const Whom &whom, const std::string &by, Moment now);

    [[nodiscard]] const AlarmStates &states() const { return m_states; }
    /// Of this session, the oldest first; 100,000 at most.
    [[nodiscard]] const std::vector<AlarmEntry> &entries() const { return m_entries; }
    /// Those that came since the last call, others' too.
    [[nodiscard]] std::vector<AlarmEntry> takeNew();
    /// Why the log cannot be written, a sentence; empty: it can.
    [[nodiscard]] const std::string &logFault() const { return m_logFault; }
    [[nodiscard]] NotifierCounts notified() const;
    /// false: some notice is still under way
    bool waitUntilTold(double seconds) const;

private:
    struct Reports;
    explicit AlarmDesk(DeskOptions options);
    using Key = std::string; // rule and place

    void readOthers(Moment now);
    void raise(const watch::Alarm &alarm, const Key &key, Moment now);
    void clear(const Key &key, Moment until, const std::string &note, Moment now);
    void takeOver(const watch::Alarm &alarm, Moment now);
    void clearUnseen(const std::set<Key> &held, Moment now);
    void notify(Moment now);
    Expected<void> record(AlarmEntry entry);
    void keep(const AlarmEntry &entry);
    [[nodiscard]] Expected<void> isKnown(const Whom &whom) const;

    DeskOptions m_options;
    AlarmStates m_states;
    std::unique_ptr<AlarmLog> m_log;
    std::vector<AlarmEntry> m_entries, m_new;
    std::string m_logFault;
    /// that hold; those of a session before, which this one has not seen yet; that were notified of
    std::map<Key, std::int64_t> m_open;
    std::set<std::int64_t> m_awaited, m_told;
    /// over, by their end
    std::map<std::pair<Key, Moment>, std::int64_t> m_over;
    /// cleared since the last notices
    std::vector<std::int64_t> m_cleared;
    /// of the first look
    Moment m_begun = 0;
    std::shared_ptr<Reports> m_reports;
    /// last: reports to what is above
    std::unique_ptr<Notifier> m_notifier;
};

/// s
inline constexpr double kLongestMute = 30 * 86'400.0;

} // namespace trainyard::desk
