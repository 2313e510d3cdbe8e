// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/new_plan_text.h"

#include "core/iteration/placement/degrees.h"
#include "models/text/format.h"

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

namespace trainyard {

namespace {

QString planAnswerText(const char *text)
{
    return QCoreApplication::translate("NewPlanText", text);
}

const StageMemory *fullest(const Evaluation &evaluation)
{
    const StageMemory *most = nullptr;
    if (!evaluation.metrics.memory)
        return most;
    for (const StageMemory &stage : evaluation.metrics.memory->perStage) {
        if (!most || double(stage.device) * double(most->capacity) > double(most->device) * double(stage.capacity))
            most = &stage;
    }
    return most;
}

QString memoryText(const Evaluation &evaluation)
{
    const StageMemory *stage = fullest(evaluation);
    if (!stage)
        return evaluation.layout.unplaced.empty() ? planAnswerText("cannot run")
                                                  : QString::fromStdString(evaluation.layout.unplaced);
    const QString used = planAnswerText("%1 of %2 on the fullest GPU")
                             .arg(formatBytes(double(stage->device)), formatBytes(double(stage->capacity)));
    return (stage->fits() ? planAnswerText("fits: %1") : planAnswerText("does not fit: %1")).arg(used);
}

QString trainingText(const Plan &plan)
{
    const Degrees p = degreesOf(plan);
    QStringList parts { planAnswerText("tensor %1").arg(p.tensor), planAnswerText("pipeline %1").arg(p.pipeline) };
    if (p.expert > 1)
        parts << planAnswerText("expert %1").arg(p.expert);
    if (plan.memory.recompute != Recompute::None)
        parts << (plan.memory.recompute == Recompute::Full ? planAnswerText("full recompute")
                                                           : planAnswerText("selective recompute"));
    return parts.join(QStringLiteral(", "));
}

/// Where GPUs would idle and why, of the first such place.
QString idleText(const Evaluation &evaluation)
{
    if (evaluation.layout.idle.empty())
        return {};
    const IdleGpus &idle = evaluation.layout.idle.front();
    const std::string &where = evaluation.plan->cluster.datacenters[std::size_t(idle.datacenter)].label();
    return planAnswerText(" · %1 idle in %2: %3")
        .arg(gpusText(idle.gpus), QString::fromStdString(where), QString::fromStdString(idle.reason));
}

} // namespace

NewPlanPreview previewOf(const NewPlanAnswer &answer, const QString &missing, qint64 gpus)
{
    if (!missing.isEmpty())
        return { missing, {}, true };
    if (!answer.best) {
        if (!answer.isComplete)
            return { gpusText(gpus), planAnswerText("looking for degrees of parallelism that fit…"), true };
        return { planAnswerText("%1 · this plan cannot be evaluated").arg(gpusText(gpus)),
            answer.errors.empty() ? QString() : QString::fromStdString(toString(answer.errors.front())), false };
    }
    const Evaluation &best = *answer.best;
    QStringList parts { best.metrics.gpusUsed < gpus
            ? planAnswerText("%1 of %2 in use")
                  .arg(QLocale(QLocale::English).toString(best.metrics.gpusUsed), gpusText(gpus))
            : gpusText(gpus) };
    if (best.metrics.iterationTime)
        parts << planAnswerText("%1 per iteration").arg(formatSeconds(*best.metrics.iterationTime));
    if (best.metrics.tokensPerSecond)
        parts << planAnswerText("%1 tokens per second").arg(formatCount(*best.metrics.tokensPerSecond));
    parts << memoryText(best);
    const QString how = trainingText(*best.plan) + idleText(best);
    return { parts.join(QStringLiteral(" · ")),
        answer.isComplete ? planAnswerText("With %1").arg(how) : planAnswerText("With %1; trying more…").arg(how),
        best.feasible() };
}

} // namespace trainyard
