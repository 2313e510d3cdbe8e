#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// All numbers of all variants of a session: their plans are evaluated one after the other in the background while
// someone looks, and rows are kept by plan. The table sets each beside one of them. Lives on the GUI thread.

#include "core/evaluation/report/metric_rows.h"
#include "models/session/session_document.h"
#include "models/table_roles.h"
#include "models/watched_worker.h"

#include <map>
#include <memory>

namespace trainyard {

struct NumbersOfPlan {
    /// empty where the plan cannot be evaluated
    std::vector<MetricRow> rows;
    /// why they are not set against others; empty: they are
    std::string whyNotCompared;
};

struct NumbersTable {
    struct Cell {
        QString text;
        Tone tone = Tone::Plain;
        bool operator==(const Cell &) const = default;
    };
    struct Row {
        /// of the metric (docs/metrics.md)
        std::string key;
        QString label;
        /// one for each variant, in their order
        std::vector<Cell> cells;
    };
    std::vector<Row> rows;
};

/// Each number of each plan, with its difference to that of `base`: "20.1 s  −2.8 %". Null: not known yet. Numbers that
/// no plan has are left out. Pure.
[[nodiscard]] NumbersTable numbersAgainst(const std::vector<const NumbersOfPlan *> &plans, std::size_t base);

class VariantNumbers : public QObject {
    Q_OBJECT
public:
    VariantNumbers(SessionDocument &session, const Catalogue &catalogue, QObject *parent = nullptr);

    /// Null until it is known.
    [[nodiscard]] const NumbersOfPlan *of(const PlanPtr &plan) const;
    void setWatched(bool watched) { m_worker.setWatched(watched); }

signals:
    void numbersChanged();

private:
    void tidy();
    void work(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);

    SessionDocument &m_session;
    const Catalogue &m_catalogue;
    std::map<PlanPtr, NumbersOfPlan> m_numbers;
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

} // namespace trainyard
