#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Two plans beside each other: both are evaluated whole in the background, and their timelines are told apart. Works
// only while someone looks; never an older pair after a newer. Lives on the GUI thread.

#include "core/base/newest_worker.h"
#include "core/evaluation/difference/timeline_difference.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"

#include <QObject>
#include <QStringList>

#include <memory>

namespace trainyard {

struct ComparedPair {
    /// Null where the plan cannot be evaluated.
    EvaluationPtr before, after;
    /// why either is null
    Errors errors;
    /// within the window; empty where either is null
    TimelineDifference difference;
    /// indices of difference.spans, the largest change first
    std::vector<std::size_t> largest;
    std::vector<GpuTimeDifference> gpuTimes;
    /// what differs between the plans, a sentence each
    QStringList words;
    TimeWindow window;
};
using ComparedPairPtr = std::shared_ptr<const ComparedPair>;

class PairComparison : public QObject {
    Q_OBJECT
public:
    explicit PairComparison(const Catalogue &catalogue, QObject *parent = nullptr);

    /// Either may be null: then there is nothing to compare.
    void setPlans(const PlanPtr &before, const PlanPtr &after);
    /// Differences of the timelines are of this part of them.
    void setWindow(const TimeWindow &window);
    void setWatched(bool watched);
    /// The newest that is done; null before the first.
    [[nodiscard]] const ComparedPairPtr &pair() const { return m_pair; }
    [[nodiscard]] bool isUnderWay() const { return m_isUnderWay; }

signals:
    void pairChanged();
    void underWayChanged();

private:
    struct Request {
        PlanPtr before, after;
        TimeWindow window;
        ComparedPairPtr known;
    };
    void ask();
    void work(const Request &request, const std::stop_token &stop);
    void take(const Request &request, const ComparedPairPtr &pair);

    const Catalogue &m_catalogue;
    PlanPtr m_before, m_after;
    TimeWindow m_window;
    ComparedPairPtr m_pair;
    bool m_isWatched = false, m_isOwed = false, m_isUnderWay = false;
    /// last: it uses everything above
    NewestWorker<Request> m_worker;
};

} // namespace trainyard
