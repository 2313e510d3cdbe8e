#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans that are told apart by one number, their global batch, and work that is told by those numbers.

#include "models/journal_reader.h"

#include <QDir>
#include <QFile>

namespace trainyard::test {

inline PlanPtr numbered(int number)
{
    Plan made;
    made.name = "Kept";
    Datacenter here;
    here.id = "here";
    Pool &pool = here.pools.emplace_back();
    pool.id = "p";
    pool.gpu = "h100-sxm-80gb";
    pool.nodes = 2;
    pool.gpusPerNode = 8;
    made.cluster.datacenters.push_back(here);
    made.workload.model = "llama-3-8b";
    made.workload.globalBatch = number + 1; // which no plan has as 0
    return std::make_shared<const Plan>(made);
}

inline int numberOf(const PlanPtr &plan)
{
    return int(plan->workload.globalBatch) - 1;
}

/// Work in numbers: the plan before the edits, what they led to, and how many are in force.
struct Numbers {
    std::vector<int> plans;
    int done = 0, saved = -1;
    bool isClean = false;

    bool operator==(const Numbers &) const = default;
};

inline Numbers numbersOf(const UnsavedWork &work)
{
    Numbers numbers { { numberOf(work.start) }, work.done, work.saved, work.isClean };
    for (const UnsavedWork::Edit &edit : work.edits)
        numbers.plans.push_back(numberOf(edit.plan));
    return numbers;
}

inline QByteArray told(const Numbers &numbers)
{
    QByteArray text;
    for (const int plan : numbers.plans)
        text += QByteArray::number(plan) + ' ';
    return text + "done " + QByteArray::number(numbers.done) + " saved " + QByteArray::number(numbers.saved)
        + (numbers.isClean ? " clean" : "");
}

/// The one journal of a state folder; empty: there is none.
inline QString journalIn(const QString &folder)
{
    const QStringList names = QDir(folder).entryList({ QStringLiteral("*.journal") }, QDir::Files);
    return names.size() == 1 ? QDir(folder).filePath(names.front()) : QString();
}

inline QByteArray bytesOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

inline void put(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("%s cannot be written", qPrintable(path));
}

} // namespace trainyard::test
