// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/left_work.h"

#include "core/facts/plan/plan_io.h"
#include "models/journal.h"
#include "models/journal_reader.h"
#include "models/plan_store.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLockFile>

#include <algorithm>
#include <functional>
#include <optional>

namespace trainyard {

namespace {

const QString kOldSuffix = QStringLiteral(".recovery");

PlanPtr parseKept(const QByteArray &content, const QString &file, const std::string &folder)
{
    auto plan = parsePlan({ content.constData(), std::size_t(content.size()) }, file.toStdString(), folder);
    return plan ? std::make_shared<const Plan>(std::move(*plan)) : nullptr;
}

/// A file of an older version: one line of JSON that says whose plan it is and how long each plan after it is, first
/// the plan before the edits, then what each edit led to. Nothing where it is not whole.
std::optional<RecoveredPlan> readOld(const QString &file)
{
    const auto content = readBytes(file);
    const qsizetype end = content ? content->indexOf('\n') : -1;
    if (end < 0)
        return std::nullopt;
    const QJsonObject head = QJsonDocument::fromJson(content->left(end)).object();
    const std::string folder = head[QStringLiteral("folder")].toString().toStdString();
    RecoveredPlan kept { {}, QDateTime::fromString(head[QStringLiteral("when")].toString(), Qt::ISODateWithMs), file,
        {}, false };
    kept.work.path = head[QStringLiteral("path")].toString();
    kept.work.known = QByteArray::fromHex(head[QStringLiteral("known")].toString().toLatin1());
    qsizetype at = end + 1;
    for (const QJsonValue &step : head[QStringLiteral("steps")].toArray()) {
        const qsizetype bytes = step[QStringLiteral("bytes")].toInteger();
        const PlanPtr plan = parseKept(content->mid(at, bytes), file, folder);
        if (!plan || bytes <= 0)
            return std::nullopt;
        at += bytes;
        if (!kept.work.start)
            kept.work.start = plan;
        else
            kept.work.edits.push_back({ step[QStringLiteral("text")].toString(), plan });
    }
    if (!head.contains(QStringLiteral("steps"))) // the first version: the plan alone
        kept.work.start = parseKept(content->mid(at), file, folder);
    const int edits = int(kept.work.edits.size());
    kept.work.done = std::clamp(head[QStringLiteral("done")].toInt(), 0, edits);
    kept.work.saved = std::clamp(head[QStringLiteral("saved")].toInt(-1), -1, edits);
    return kept.work.start ? std::optional(std::move(kept)) : std::nullopt;
}

void readLeftJournal(const QString &file, LeftWork &left)
{
    using enum JournalContent::State;
    JournalContent content = readJournal(file);
    std::erase_if(content.works, [](const RecoveredPlan &plan) { return plan.work.isClean; });
    if (!content.works.empty()) {
        std::ranges::move(content.works, std::back_inserter(left.plans));
    } else if (content.state == Damaged) {
        left.unreadable << file + QStringLiteral(".damaged");
        QFile::rename(file, left.unreadable.back());
    } else if (content.state == Whole) {
        QFile::remove(file);
    }
}

} // namespace

LeftWork readLeft(const QString &folder, const QString &own)
{
    LeftWork left;
    const QStringList names { u'*' + kJournalSuffix, u'*' + kOldSuffix, u'*' + kJournalSuffix + ".part" };
    for (const QFileInfo &info : QDir(folder).entryInfoList(names, QDir::Files)) {
        const QString file = info.absoluteFilePath(), window = info.suffix() == "part" ? file.chopped(5) : file;
        if (window == QFileInfo(own).absoluteFilePath())
            continue;
        QLockFile lock(window + QStringLiteral(".lock"));
        lock.setStaleLockTime(0);
        if (!lock.tryLock(0)) // its window lives
            continue;
        if (window != file)
            QFile::remove(file); // was being written
        else if (file.endsWith(kJournalSuffix))
            readLeftJournal(file, left);
        else if (auto plan = readOld(file))
            left.plans.push_back(std::move(*plan));
    }
    std::ranges::sort(left.plans, std::greater {}, &RecoveredPlan::when);
    return left;
}

void removeLeft(const RecoveredPlan &recovered)
{
    Journal::Changes others;
    if (recovered.file.endsWith(kJournalSuffix))
        for (RecoveredPlan &plan : readJournal(recovered.file).works)
            if (plan.variant != recovered.variant && !plan.work.isClean)
                others.emplace(plan.variant, std::move(plan.work));
    if (!others.empty()) {
        (void)Journal(recovered.file).keep(others);
        return;
    }
    QFile::remove(recovered.file);
    QFile::remove(recovered.file + QStringLiteral(".lock"));
}

} // namespace trainyard
