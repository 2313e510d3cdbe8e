#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What-ifs of a live run: the questions of the moment, each evaluated beside the GUI thread by the searchers that all
// evaluations share, the likeliest first. Answers come one by one; asking again stops what is under way. GUI thread.

#include "core/base/newest_worker.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/live/alarms/what_if.h"

#include <QObject>

namespace trainyard {

struct LiveWhatIf {
    watch::WhatIf asked;
    /// null: still being evaluated, or cannot be asked
    EvaluationPtr evaluation;
    std::optional<watch::WhatIfAnswer> answer;
    /// why it has no answer although it was evaluated; empty: none
    std::string failure;
};

class LiveWhatIfs : public QObject {
    Q_OBJECT
public:
    explicit LiveWhatIfs(const Catalogue &catalogue, QObject *parent = nullptr);
    ~LiveWhatIfs() override;

    /// Under the overlay's plan, at its step.
    void ask(const RunOverlayPtr &overlay, const std::vector<watch::Alarm> &alarms);
    void forget();

    [[nodiscard]] const std::vector<LiveWhatIf> &all() const { return m_all; }
    [[nodiscard]] bool isAsking() const { return m_isAsking; }
    [[nodiscard]] std::int64_t step() const { return m_step; } // that they were asked at; -1: none
    /// Of the plan that they were asked of; null: none.
    [[nodiscard]] const EvaluationPtr &evaluation() const { return m_evaluation; }

signals:
    void changed();

private:
    struct Request {
        std::uint64_t generation = 0;
        RunOverlayPtr overlay;
        std::vector<watch::Alarm> alarms;
    };
    void work(const Request &request, const std::stop_token &stop);
    void deliver(std::uint64_t generation, std::function<void()> take);

    const Catalogue &m_catalogue;
    std::vector<LiveWhatIf> m_all;
    EvaluationPtr m_evaluation;
    std::int64_t m_step = -1;
    bool m_isAsking = false;
    std::uint64_t m_generation = 0;
    /// last: it uses everything above
    NewestWorker<Request> m_worker;
};

} // namespace trainyard
