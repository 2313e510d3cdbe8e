#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The expert layer of the plan that is shown, opened: its works, times and spans, found in the background while someone
// looks. Of evaluations that come meanwhile only the newest is opened next. Lives on the GUI thread.

#include "core/evaluation/evaluate/expert_layer.h"
#include "models/background_queue.h"

#include <functional>
#include <memory>
#include <optional>

namespace trainyard {

struct OpenedLayer {
    ExpertLayer layer;
    LayerChart forward, backward;
    /// where forwards run with backwards
    std::optional<LayerChart> pair;
    LayerTimes pairTimes;
};
using OpenedLayerPtr = std::shared_ptr<const OpenedLayer>;

/// With its charts.
[[nodiscard]] OpenedLayerPtr opened(ExpertLayer layer);

class LayerOpener : public QObject {
    Q_OBJECT
public:
    /// How an evaluation's layer is found: expertLayer(), unless a test says otherwise.
    using Find = std::function<ExpectedAll<std::optional<ExpertLayer>>(const Evaluation &)>;
    explicit LayerOpener(Find find, QObject *parent = nullptr);

    /// Null: there is none, the plan cannot be evaluated.
    void setEvaluation(const EvaluationPtr &evaluation);
    /// What came in between is opened when someone looks again.
    void setWatched(bool watched);
    [[nodiscard]] bool isWorking() const { return m_isRunning; }

Q_SIGNALS:
    /// Null: the plan has no layer to open.
    void layerOpened(trainyard::OpenedLayerPtr layer);
    void layerFailed(const QString &why);

private:
    struct Answer {
        OpenedLayerPtr layer;
        QString error;
    };

    void start();
    void take(const EvaluationPtr &of, const Answer &answer);

    Find m_find;
    /// these three: GUI thread only
    EvaluationPtr m_evaluation;
    bool m_isWatched = false, m_isRunning = false, m_isOwed = false;
    /// last: its thread uses what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
