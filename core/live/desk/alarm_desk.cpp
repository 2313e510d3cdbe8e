// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/desk/alarm_desk.h"

#include <algorithm>
#include <mutex>
#include <ranges>

namespace trainyard::desk {

namespace {

constexpr std::size_t kMostEntries = 100'000, kMostOverKeys = 4'000;
constexpr double kUntilForgotten = 600; // s in which a session finds again what held before it

std::string keyOf(const std::string &rule, const std::string &place)
{
    return rule + "\n" + place;
}

std::string keyOf(const watch::Alarm &alarm)
{
    return keyOf(watch::traitsOf(alarm.rule()).key, alarm.place);
}

} // namespace

/// What the notifier's thread says, until the desk looks.
struct AlarmDesk::Reports {
    std::mutex mutex;
    std::vector<std::pair<std::int64_t, std::string>> all;
};

AlarmDesk::AlarmDesk(DeskOptions options)
    : m_options(std::move(options))
    , m_reports(std::make_shared<Reports>())
{
}

AlarmDesk::~AlarmDesk() = default;

ExpectedAll<std::unique_ptr<AlarmDesk>> AlarmDesk::open(DeskOptions options)
{
    if (!options.allowsWebhooksAnywhere)
        if (Errors faults = webhooksElsewhere(options.setup.targets); !faults.empty())
            return std::unexpected(std::move(faults));
    auto desk = std::unique_ptr<AlarmDesk>(new AlarmDesk(std::move(options)));
    if (!desk->m_options.logPath.empty()) {
        auto log = AlarmLog::open(desk->m_options.logPath, LogUse::Watch);
        if (!log)
            return std::unexpected(Errors { log.error() });
        desk->m_log = std::move(*log);
        for (const AlarmEntry &entry : desk->m_log->readNew())
            desk->m_states.apply(entry);
    }
    for (const auto &[number, alarm] : desk->m_states.all()) {
        const Key key = keyOf(alarm.rule, alarm.place);
        if (alarm.holds()) {
            desk->m_open[key] = number;
            desk->m_awaited.insert(number);
            desk->m_told.insert(number);
        } else {
            desk->m_over[{ key, alarm.until }] = number;
        }
    }
    NotifierOptions delivery = desk->m_options.delivery;
    delivery.undelivered = [reports = desk->m_reports, also = delivery.undelivered](
                               std::int64_t number, const std::string &why) {
        {
            const std::lock_guard lock(reports->mutex);
            if (reports->all.size() < kMostOverKeys)
                reports->all.emplace_back(number, why);
        }
        if (also)
            also(number, why);
    };
    if (!desk->m_options.setup.targets.empty()) {
        auto notifier = Notifier::make(desk->m_options.setup.targets, std::move(delivery));
        if (!notifier)
            return std::unexpected(Errors { notifier.error() });
        desk->m_notifier = std::move(*notifier);
    }
    return desk;
}

std::vector<std::int64_t> AlarmDesk::look(const std::vector<watch::Alarm> &alarms, Moment now)
{
    if (m_begun == 0)
        m_begun = now;
    readOthers(now);
    // Those that are over first, the oldest first: one place may have had several since the last look.
    for (const watch::Alarm &alarm : std::views::reverse(alarms))
        if (alarm.isOver())
            takeOver(alarm, now);
    std::set<Key> held;
    for (const watch::Alarm &alarm : alarms)
        if (!alarm.isOver()) {
            const Key key = keyOf(alarm);
            held.insert(key);
            if (const auto open = m_open.find(key); open != m_open.end())
                m_awaited.erase(open->second);
            else
                raise(alarm, key, now);
        }
    clearUnseen(held, now);
    notify(now);
    std::vector<std::int64_t> numbers;
    for (const watch::Alarm &alarm : alarms) {
        const Key key = keyOf(alarm);
        numbers.push_back(alarm.isOver() ? m_over[{ key, alarm.until }] : m_open[key]);
    }
    if (m_over.size() > kMostOverKeys) { // a log of long ago told of most
        std::map<std::pair<Key, Moment>, std::int64_t> kept;
        for (const watch::Alarm &alarm : alarms)
            if (const auto one = m_over.find({ keyOf(alarm), alarm.until }); one != m_over.end())
                kept.insert(*one);
        m_over = std::move(kept);
    }
    return numbers;
}

void AlarmDesk::readOthers(Moment now)
{
    if (m_log)
        for (const AlarmEntry &entry : m_log->readNew()) {
            m_states.apply(entry);
            keep(entry);
        }
    std::vector<std::pair<std::int64_t, std::string>> reports;
    {
        const std::lock_guard lock(m_reports->mutex);
        reports.swap(m_reports->all);
    }
    for (auto &[number, why] : reports)
        static_cast<void>(
            record({ .at = now, .act = AlarmAct::Undelivered, .number = number, .note = std::move(why) }));
}

void AlarmDesk::raise(const watch::Alarm &alarm, const Key &key, Moment now)
{
    const std::int64_t number = m_states.next();
    m_open[key] = number;
    static_cast<void>(record({ .at = now,
        .act = AlarmAct::Raised,
        .number = number,
        .rule = watch::traitsOf(alarm.rule()).key,
        .place = alarm.place,
        .sentence = alarm.sentence,
        .since = alarm.since }));
}

void AlarmDesk::clear(const Key &key, Moment until, const std::string &note, Moment now)
{
    const auto open = m_open.find(key);
    if (open == m_open.end())
        return;
    const std::int64_t number = open->second;
    m_open.erase(open);
    m_awaited.erase(number);
    m_over[{ key, until }] = number;
    m_cleared.push_back(number);
    static_cast<void>(record({ .at = now, .act = AlarmAct::Cleared, .number = number, .until = until, .note = note }));
}

void AlarmDesk::takeOver(const watch::Alarm &alarm, Moment now)
{
    const Key key = keyOf(alarm);
    if (m_over.contains({ key, alarm.until }))
        return;
    const auto open = m_open.find(key);
    const AlarmState *state = open == m_open.end() ? nullptr : m_states.of(open->second);
    if (!state || state->since > alarm.until) { // it came and went between two looks
        const std::optional<std::int64_t> other = state ? std::optional(open->second) : std::nullopt;
        raise(alarm, key, now);
        clear(key, alarm.until, {}, now);
        if (other)
            m_open[key] = *other;
        return;
    }
    clear(key, alarm.until, {}, now);
}

void AlarmDesk::clearUnseen(const std::set<Key> &held, Moment now)
{
    const bool isLong = static_cast<double>(now - m_begun) >= kUntilForgotten * 1e9;
    std::vector<std::pair<Key, bool>> gone;
    for (const auto &[key, number] : m_open)
        if (const bool isAwaited = m_awaited.contains(number); !held.contains(key) && (!isAwaited || isLong))
            gone.emplace_back(key, isAwaited);
    for (const auto &[key, wasAwaited] : gone)
        clear(key, now, wasAwaited ? "not seen since the watch began again" : "not watched any more", now);
}

void AlarmDesk::notify(Moment now)
{
    const std::vector<std::int64_t> cleared = std::exchange(m_cleared, {});
    if (!m_notifier)
        return;
    const auto tell = [&](AlarmAct act, const AlarmState &alarm) {
        m_notifier->send({ act, alarm, now, m_options.run });
    };
    const auto isWanted = [&](const AlarmState &alarm) {
        return alarm.acknowledged == 0 && !m_states.isMuted(alarm, now) && !m_told.contains(alarm.number);
    };
    for (const std::int64_t number : cleared)
        if (const AlarmState *alarm = m_states.of(number)) {
            if (isWanted(*alarm)) { // raised and over since the last look
                tell(AlarmAct::Raised, *alarm);
                m_told.insert(number);
            }
            if (m_told.erase(number) > 0 && !m_states.isMuted(*alarm, now))
                tell(AlarmAct::Cleared, *alarm);
        }
    for (const auto &[key, number] : m_open)
        if (const AlarmState *alarm = m_states.of(number); alarm && isWanted(*alarm)) {
            tell(AlarmAct::Raised, *alarm);
            m_told.insert(number);
        }
}

Expected<void> AlarmDesk::record(AlarmEntry entry)
{
    m_states.apply(entry);
    keep(entry);
    if (!m_log)
        return {};
    const auto written = m_log->append(entry);
    m_logFault = written ? std::string() : toString(written.error());
    return written;
}

void AlarmDesk::keep(const AlarmEntry &entry)
{
    m_entries.push_back(entry);
    m_new.push_back(entry);
    for (std::vector<AlarmEntry> *all : { &m_entries, &m_new })
        if (all->size() > kMostEntries)
            all->erase(all->begin(), all->begin() + std::ptrdiff_t(all->size() - kMostEntries / 2));
}

std::vector<AlarmEntry> AlarmDesk::takeNew()
{
    return std::exchange(m_new, {});
}

Expected<void> AlarmDesk::isKnown(const Whom &whom) const
{
    if (whom.number == 0) {
        const auto rule = watch::ruleNamed(whom.rule);
        return rule ? Expected<void>() : std::unexpected(rule.error());
    }
    if (m_states.of(whom.number))
        return {};
    return std::unexpected(
        Error { ErrorCode::BadValue, std::to_string(whom.number), "is no alarm of this log", "the number of one" });
}

Expected<void> AlarmDesk::acknowledge(std::int64_t number, const std::string &by, const std::string &note, Moment now)
{
    if (const auto known = isKnown({ number, {} }); !known)
        return known;
    return record({ .at = now, .act = AlarmAct::Acknowledged, .number = number, .by = by, .note = note });
}

Expected<void> AlarmDesk::mute(
    const Whom &whom, Moment until, const std::string &by, const std::string &note, Moment now)
{
    if (const auto known = isKnown(whom); !known)
        return known;
    if (until <= now || static_cast<double>(until - now) > kLongestMute * 1e9)
        return std::unexpected(Error {
            ErrorCode::BadValue, isoText(until), "is no end of muting", "a time ahead, 30 days from now at most" });
    return record({ .at = now,
        .act = AlarmAct::Muted,
        .number = whom.number,
        .rule = whom.rule,
        .until = until,
        .by = by,
        .note = note });
}

Expected<void> AlarmDesk::unmute(const Whom &whom, const std::string &by, Moment now)
{
    if (const auto known = isKnown(whom); !known)
        return known;
    return record({ .at = now, .act = AlarmAct::Unmuted, .number = whom.number, .rule = whom.rule, .by = by });
}

NotifierCounts AlarmDesk::notified() const
{
    return m_notifier ? m_notifier->counts() : NotifierCounts();
}

bool AlarmDesk::waitUntilTold(double seconds) const
{
    return !m_notifier || m_notifier->waitUntilIdle(seconds);
}

} // namespace trainyard::desk
