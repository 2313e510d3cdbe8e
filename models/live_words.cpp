// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/live_words.h"

#include "models/text/foreign_text.h"
#include "models/text/format.h"
#include "models/text/utf8.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QLocale>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kNs = 1e-9;

QString liveText(const char *text)
{
    return QCoreApplication::translate("LiveWords", text);
}

QString whole(std::int64_t number)
{
    return QLocale(QLocale::English).toString(qlonglong(number));
}

qint64 secondsUntil(Moment at, Moment now)
{
    return std::max<qint64>(0, qint64(std::ceil(double(at - now) * kNs)));
}

QString sentenceOf(QStringList parts)
{
    QString text = parts.join(QStringLiteral("; "));
    if (text.isEmpty())
        return text;
    text[0] = text[0].toUpper();
    return text + u'.';
}

QString tsvLine(const QStringList &cells)
{
    QStringList plain;
    for (QString cell : cells)
        plain << cell.replace(u'\t', u' ').replace(u'\n', u' ');
    return plain.join(u'\t') + u'\n';
}

} // namespace

QString stateName(const live::SourceStatus &status, Moment now)
{
    using State = live::SourceState;
    if (status.state == State::BackingOff && status.nextTry > now)
        return liveText("Trying again in %1 s").arg(secondsUntil(status.nextTry, now));
    if (status.state == State::BackingOff)
        return liveText("Trying again");
    // Of Prometheus samples are old, not its answers: the reason says how old.
    const bool isAsked = status.address.type == live::SourceType::Prometheus;
    if (status.state == State::Stale && !isAsked && status.heard > 0 && now > status.heard)
        return liveText("Stale, silent for %1 s").arg(qint64(double(now - status.heard) * kNs));
    if (status.state == State::Connecting && status.address.type == live::SourceType::Listener)
        return liveText("Waiting for senders");
    return fromUtf8(nameOf(status.state));
}

QString stateText(const live::SourceStatus &status, Moment now)
{
    const QString name = stateName(status, now);
    const bool isSaid = status.state == live::SourceState::Stale && name != fromUtf8(nameOf(status.state));
    return status.reason.empty() || isSaid ? name : liveText("%1: %2").arg(name, fromUtf8(status.reason));
}

QString shortName(const live::Address &address)
{
    const QString host = fromUtf8(address.host) + (address.port > 0 ? u':' + QString::number(address.port) : QString());
    switch (address.type) {
    case live::SourceType::Listener:
        return liveText("listening on %1").arg(host);
    case live::SourceType::Prometheus:
    case live::SourceType::Stream:
    case live::SourceType::WebSocket:
        return host;
    case live::SourceType::Tail:
        return fileText(fromUtf8(address.path));
    case live::SourceType::Command:
        return foreignText(fromUtf8(address.path));
    case live::SourceType::Replay:
        return liveText("replay of %1").arg(foreignText(QFileInfo(fromUtf8(address.path)).completeBaseName()));
    }
    return fromUtf8(address.text());
}

QString amountText(const live::SourceStatus &status)
{
    QStringList parts { liveText("%1 in %2")
                            .arg(status.bytes > 0 ? formatBytes(double(status.bytes)) : QStringLiteral("0 B"),
                                countOf(status.batches, liveText("batch"), liveText("batches"))) };
    if (status.address.type == live::SourceType::Listener)
        parts << liveText("%L1 connected").arg(status.clients);
    if (status.tries > 1)
        parts << liveText("%L1 tries").arg(status.tries);
    return parts.join(QStringLiteral(", "));
}

QString droppedSentence(const std::vector<LiveSourceRow> &rows, const live::StoreCounts &counts)
{
    QStringList parts;
    std::int64_t bytes = 0, refused = 0;
    for (const LiveSourceRow &row : rows) {
        bytes += row.status.dropped;
        refused += row.status.refusedClients;
    }
    if (bytes > 0)
        parts << liveText("%1 came too fast or while paused").arg(formatBytes(double(bytes)));
    for (const std::vector<Dropped> *all : { &counts.dropped, &counts.unread })
        for (const Dropped &dropped : *all)
            if (dropped.count > 0)
                parts << liveText("%1 left out: %2").arg(whole(dropped.count), fromUtf8(dropped.reason));
    if (refused > 0)
        parts << liveText("%1 refused").arg(countOf(refused, liveText("connection"), liveText("connections")));
    return sentenceOf(parts);
}

QString clockText(Moment at)
{
    return QDateTime::fromMSecsSinceEpoch(at / 1'000'000).toString(QStringLiteral("HH:mm:ss"));
}

QString alarmNote(const watch::Alarm &alarm)
{
    const QString kind = fromUtf8(nameOf(alarm.kind));
    if (!alarm.isOver())
        return alarm.firstStep >= 0 ? liveText("%1, since step %2").arg(kind, whole(alarm.firstStep))
                                    : liveText("%1, since %2").arg(kind, clockText(alarm.since));
    if (alarm.firstStep < 0)
        return liveText("%1, over since %2").arg(kind, clockText(alarm.until));
    return alarm.firstStep == alarm.lastStep
        ? liveText("%1, over: step %2").arg(kind, whole(alarm.firstStep))
        : liveText("%1, over: steps %2 to %3").arg(kind, whole(alarm.firstStep), whole(alarm.lastStep));
}

QString alarmAnswers(const desk::AlarmState &state, Moment now)
{
    QStringList parts;
    if (state.acknowledged != 0) {
        const QString by =
            liveText("acknowledged by %1 at %2").arg(fromUtf8(state.acknowledgedBy), clockText(state.acknowledged));
        parts << (state.note.empty() ? by : by + QStringLiteral(": ") + fromUtf8(state.note));
    }
    if (state.mutedUntil > now)
        parts << liveText("muted until %1 by %2").arg(clockText(state.mutedUntil), fromUtf8(state.mutedBy));
    if (!state.undelivered.empty())
        parts << liveText("not notified: %1").arg(fromUtf8(state.undelivered));
    return parts.join(QStringLiteral("  ·  "));
}

QStringList ruleRow(const watch::RuleTraits &traits, const watch::AlarmRules &rules)
{
    const watch::AlarmRule &rule = rules[traits.id];
    if (!rule.isOn)
        return { fromUtf8(traits.name), liveText("off"), liveText("off") };
    QString threshold = traits.hasThreshold()
        ? QStringLiteral("%1 %2").arg(QString::number(rule.threshold), fromUtf8(traits.unit))
        : liveText("any");
    if (traits.id == watch::RuleId::Xid && !rules.ignoredXids.empty()) {
        QStringList ignored;
        for (const int xid : rules.ignoredXids)
            ignored << QString::number(xid);
        threshold = liveText("any but %1").arg(ignored.join(QStringLiteral(", ")));
    }
    return { fromUtf8(traits.name), threshold,
        rule.holdSeconds > 0 ? QStringLiteral("%1 s").arg(rule.holdSeconds) : liveText("at once") };
}

QString againstPlan(double measured, double predicted)
{
    if (!(measured > 0))
        return predicted > 0 ? liveText("not told, plan %1").arg(formatSeconds(predicted)) : liveText("not told");
    if (!(predicted > 0))
        return formatSeconds(measured);
    return liveText("%1, plan %2 (%3)")
        .arg(formatSeconds(measured), formatSeconds(predicted), formatChange(predicted, measured));
}

QString answerText(const LiveWhatIf &one)
{
    if (!one.asked.plan)
        return one.asked.why.empty() ? liveText("It cannot be asked.") : fromUtf8(one.asked.why);
    if (!one.failure.empty())
        return liveText("No: %1").arg(fromUtf8(one.failure));
    if (!one.answer)
        return liveText("Being evaluated…");
    QStringList parts { liveText("%1 per step").arg(formatSeconds(one.answer->secondsPerStep)) };
    if (one.answer->usdPerStep > 0)
        parts << liveText("%1 per step").arg(formatUsd(one.answer->usdPerStep));
    const QString figures = parts.join(QStringLiteral("  ·  "));
    return one.answer->sentence.empty() ? figures : figures + QStringLiteral("  ·  ") + fromUtf8(one.answer->sentence);
}

QString alarmsTsv(const LiveDocument &live)
{
    const std::vector<watch::Alarm> &alarms = live.alarms();
    QString text =
        tsvLine({ liveText("kind"), liveText("state"), liveText("first step"), liveText("last step"), liveText("place"),
            liveText("seconds per step"), liveText("share of the plan"), liveText("answers"), liveText("what") });
    for (std::size_t i = 0; i < alarms.size(); ++i) {
        const watch::Alarm &alarm = alarms[i];
        const desk::AlarmState *state = live.alarmState(i);
        text += tsvLine({ fromUtf8(nameOf(alarm.kind)), alarm.isOver() ? liveText("over") : liveText("holds"),
            QString::number(alarm.firstStep), QString::number(alarm.lastStep), fromUtf8(alarm.place),
            QString::number(alarm.secondsPerStep), alarm.share > 0 ? QString::number(alarm.share) : QString(),
            state ? alarmAnswers(*state, live::unixNow()) : QString(), fromUtf8(alarm.sentence) });
    }
    return text;
}

QString whatIfsTsv(const std::vector<LiveWhatIf> &all)
{
    QString text = tsvLine({ liveText("question"), liveText("change"), liveText("seconds per step"),
        liveText("dollars per step"), liveText("answer") });
    for (const LiveWhatIf &one : all)
        text += tsvLine({ fromUtf8(one.asked.question), fromUtf8(one.asked.change),
            one.answer ? QString::number(one.answer->secondsPerStep) : QString(),
            one.answer ? QString::number(one.answer->usdPerStep) : QString(), answerText(one) });
    return text;
}

} // namespace trainyard
