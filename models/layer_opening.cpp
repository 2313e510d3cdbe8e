// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/layer_opening.h"

namespace trainyard {

namespace {

QString linesOf(const Errors &errors)
{
    QStringList lines;
    for (const Error &error : errors)
        lines << QString::fromStdString(toString(error));
    return lines.join(u'\n');
}

} // namespace

OpenedLayerPtr opened(ExpertLayer layer)
{
    auto made = std::make_shared<OpenedLayer>();
    made->forward = layerChart(layer.forward);
    made->backward = layerChart(layer.backward);
    if (layer.pair) {
        made->pair = pairChart(*layer.pair);
        made->pairTimes = pairTimes(*layer.pair);
    }
    made->layer = std::move(layer);
    return made;
}

LayerOpener::LayerOpener(Find find, QObject *parent)
    : QObject(parent)
    , m_find(std::move(find))
{
}

void LayerOpener::setEvaluation(const EvaluationPtr &evaluation)
{
    m_evaluation = evaluation;
    m_isOwed = evaluation != nullptr;
    if (!evaluation)
        Q_EMIT layerFailed(tr("The plan cannot be evaluated."));
    start();
}

void LayerOpener::setWatched(bool watched)
{
    m_isWatched = watched;
    start();
}

void LayerOpener::start()
{
    if (!m_isWatched || !m_isOwed || m_isRunning)
        return;
    m_isOwed = false;
    m_isRunning = true;
    m_queue.run(
        this,
        [find = m_find, of = m_evaluation]() -> Answer {
            auto found = find(*of);
            if (!found)
                return { nullptr, linesOf(found.error()) };
            return { *found ? opened(std::move(**found)) : nullptr, {} };
        },
        [this, of = m_evaluation](const Answer &answer) { take(of, answer); });
}

void LayerOpener::take(const EvaluationPtr &of, const Answer &answer)
{
    m_isRunning = false;
    if (of == m_evaluation) {
        if (answer.error.isEmpty())
            Q_EMIT layerOpened(answer.layer);
        else
            Q_EMIT layerFailed(answer.error);
    }
    start();
}

} // namespace trainyard
