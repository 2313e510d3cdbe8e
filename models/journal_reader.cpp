// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/journal_reader.h"

#include "core/facts/plan/plan_io.h"
#include "models/journal_line.h"

#include <QFile>

#include <algorithm>
#include <map>
#include <optional>

namespace trainyard {

namespace {

constexpr int kVersion = 1;

/// Plans are parsed once it is known which are still there.
struct Step {
    QString text;
    QByteArray plan;
    QString folder;
};

struct Written {
    /// the plan before the edits, then what each led to
    std::vector<Step> steps;
    /// the last line's: how things stand
    QJsonObject head;
};

using WrittenByVariant = std::map<QString, Written>;

/// False where it does not follow on what is there.
bool take(const JournalLine &line, WrittenByVariant &written)
{
    const QString kind = line.head[QStringLiteral("kind")].toString();
    const QString variant = line.head[QStringLiteral("variant")].toString();
    if (kind == QLatin1String("gone"))
        return written.erase(variant) > 0;
    if (kind == QLatin1String("work"))
        written[variant].steps.clear();
    const auto found = written.find(variant);
    const qsizetype steps = line.head[QStringLiteral("edits")].toInteger(-1) + 1;
    if (found == written.end() || steps < 1)
        return false;
    Written &one = found->second;
    one.head = line.head;
    const std::size_t kept = std::size_t(kind == QLatin1String("mark") ? steps : steps - 1);
    if (one.steps.size() < kept)
        return false;
    one.steps.resize(kept);
    if (kind != QLatin1String("mark"))
        one.steps.push_back({ line.head[QStringLiteral("text")].toString(), line.plan,
            line.head[QStringLiteral("folder")].toString() });
    return true;
}

PlanPtr planOf(const Step &step, const QString &file)
{
    auto plan = parsePlan(
        { step.plan.constData(), std::size_t(step.plan.size()) }, file.toStdString(), step.folder.toStdString());
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

/// Up to the first plan that is none; nothing where that is the one before the edits.
std::optional<RecoveredPlan> recovered(const QString &variant, const Written &written, const QString &file)
{
    const QJsonObject &head = written.head;
    RecoveredPlan plan { {}, QDateTime::fromString(head[QStringLiteral("when")].toString(), Qt::ISODateWithMs), file,
        variant, false };
    UnsavedWork &work = plan.work;
    for (const Step &step : written.steps) {
        const PlanPtr parsed = planOf(step, file);
        plan.isDamaged = !parsed;
        if (!parsed)
            break;
        if (!work.start)
            work.start = parsed;
        else
            work.edits.push_back({ step.text, parsed });
    }
    const int edits = int(work.edits.size());
    work.done = std::clamp(head[QStringLiteral("done")].toInt(), 0, edits);
    work.saved = head[QStringLiteral("saved")].toInt(-1);
    if (work.saved < 0 || work.saved > edits)
        work.saved = -1;
    work.path = head[QStringLiteral("path")].toString();
    work.about = head[QStringLiteral("about")].toString();
    work.known = QByteArray::fromHex(head[QStringLiteral("known")].toString().toLatin1());
    work.isClean = head[QStringLiteral("clean")].toBool() && !plan.isDamaged;
    return work.start ? std::optional(std::move(plan)) : std::nullopt;
}

JournalContent::State readLines(QByteArrayView bytes, WrittenByVariant &written)
{
    using enum JournalContent::State;
    for (bool isFirst = true; !bytes.isEmpty(); isFirst = false) {
        const qsizetype end = bytes.indexOf('\n');
        const auto line = journalLine(end < 0 ? bytes : bytes.first(end));
        bytes = end < 0 ? QByteArrayView() : bytes.sliced(end + 1);
        if (!line)
            return end < 0 ? Whole : Damaged; // what is torn has no end
        if (isFirst && line->head[QStringLiteral("kind")].toString() == QLatin1String("journal")) {
            if (line->head[QStringLiteral("version")].toInt() != kVersion)
                return Unknown;
        } else if (isFirst || !take(*line, written)) {
            return Damaged;
        }
    }
    return Whole;
}

} // namespace

JournalContent readJournal(const QString &file)
{
    JournalContent content;
    QFile in(file);
    if (!in.open(QIODevice::ReadOnly)) {
        content.state = JournalContent::State::Unknown;
        return content;
    }
    const QByteArray bytes = in.readAll();
    WrittenByVariant written;
    content.state = readLines(bytes, written);
    for (const auto &[variant, work] : written) {
        auto plan = recovered(variant, work, file);
        if (!plan || plan->isDamaged)
            content.state = JournalContent::State::Damaged;
        if (plan)
            content.works.push_back(std::move(*plan));
    }
    for (RecoveredPlan &plan : content.works)
        plan.isDamaged = content.state == JournalContent::State::Damaged;
    return content;
}

} // namespace trainyard
