// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_of_run.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_diff.h"
#include "core/facts/workload/model_spec.h"
#include "core/runs/imports/plan_from_recording.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <tuple>

namespace trainyard {

namespace {

QString planOfRunText(const char *source)
{
    return QCoreApplication::translate("PlanOfRun", source);
}

QStringList toStringList(const std::vector<std::string> &sentences)
{
    QStringList all;
    for (const std::string &sentence : sentences)
        all << QString::fromStdString(sentence);
    return all;
}

QString summaryOf(const ImportedPlan &imported, const Catalogue &catalogue)
{
    const Plan &plan = imported.plan;
    const ModelSpec *model = catalogue.model(plan.workload.model);
    QString name = QString::fromStdString(model ? model->name : plan.workload.model);
    if (imported.isModelAssumed)
        name = planOfRunText("a model that no file tells");
    else if (name.isEmpty() || plan.workload.inlineModel)
        name = planOfRunText("a model of its own");
    QStringList parts { planOfRunText("%1 on %2").arg(name, gpusText(plan.cluster.gpus())) };
    const Parallelism &degrees = plan.parallelism;
    const auto add = [&](const char *axis, int degree) {
        if (degree > 1)
            parts << QStringLiteral("%1 %2").arg(QLatin1String(axis)).arg(degree);
    };
    add("TP", degrees.tensor);
    add("PP", degrees.pipeline);
    add("CP", degrees.context);
    add("EP", degrees.expert);
    add("DP", degrees.data.value_or(1));
    return parts.join(QStringLiteral(", "));
}

/// What the plan in the window has that another run may share: its hardware, and its software with what was learned.
Plan baseOf(const Plan &shown)
{
    Plan base;
    base.cluster = shown.cluster;
    base.stack = shown.stack;
    base.calibration = shown.calibration;
    return base;
}

std::optional<ModelSpec> modelIn(const WorkloadSpec &work, const Catalogue &catalogue)
{
    if (work.inlineModel)
        return work.inlineModel;
    const ModelSpec *known = catalogue.model(work.model);
    return known ? std::optional(*known) : std::nullopt;
}

/// Of one size: what a file leaves out of a model (biases, dropout, its name) makes no other one.
bool trainAlike(const WorkloadSpec &a, const WorkloadSpec &b, const Catalogue &catalogue)
{
    const auto one = modelIn(a, catalogue), other = modelIn(b, catalogue);
    const auto sizeOf = [](const ModelSpec &model) {
        return std::tuple(model.layers, model.hidden, model.heads, model.ffn, model.experts, model.expertsPerToken);
    };
    return one && other ? sizeOf(*one) == sizeOf(*other) : a.model == b.model && !one && !other;
}

/// `shown` with the job of `run`: degrees, batches, sequence, precision, model. Not with what a run tells otherwise
/// than the plan has it without being another job: on which machines it found itself, how long it is to go on.
Plan sameButForJob(const Plan &run, const Plan &shown, const Catalogue &catalogue)
{
    Plan same = shown;
    same.parallelism = run.parallelism;
    const Parallelism &degrees = run.parallelism;
    const int ranks = degrees.tensor * degrees.pipeline * degrees.context;
    const int replicas = shown.parallelism.data.value_or(ranks > 0 ? shown.cluster.gpus() / ranks : 0);
    if (!degrees.data || *degrees.data == replicas)
        same.parallelism.data = shown.parallelism.data;
    if (degrees.usesSequenceParallel() == shown.parallelism.usesSequenceParallel())
        same.parallelism.sequenceParallel = shown.parallelism.sequenceParallel;
    same.schedule = run.schedule;
    same.workload = run.workload;
    same.workload.trainingTokens = shown.workload.trainingTokens;
    if (trainAlike(run.workload, shown.workload, catalogue)) {
        same.workload.model = shown.workload.model;
        same.workload.inlineModel = shown.workload.inlineModel;
    }
    return same;
}

} // namespace

bool tellsPlanAlone(const Run &run)
{
    const Recording &recording = *run.recording;
    return run.steps.empty() && recording.spanCount() == 0 && recording.series.empty() && tellsOfAPlan(recording);
}

PlanOfRunFound planOfRun(const Run &run, const Plan &shown, const Catalogue &catalogue)
{
    PlanOfRunFound found;
    if (!tellsOfAPlan(*run.recording))
        return found;
    auto imported = planFrom(*run.recording, catalogue, baseOf(shown));
    if (!imported) {
        for (const Error &error : imported.error())
            found.errors << QString::fromStdString(toString(error));
        return found;
    }
    found.taken = toStringList(imported->taken);
    found.assumed = toStringList(imported->assumed);
    found.notUnderstood = toStringList(imported->notUnderstood);
    found.ignored = toStringList(imported->ignored);
    found.summary = summaryOf(*imported, catalogue);
    found.isModelAssumed = imported->isModelAssumed;
    // Laid over all of the plan in the window, the files change nothing of a plan that they describe. A model that no
    // file tells is none that differs.
    const auto laid = planFrom(*run.recording, catalogue, shown);
    if (laid && !imported->isModelAssumed)
        found.differences = toStringList(describeDifferences(shown, sameButForJob(laid->plan, shown, catalogue)));
    found.isOther = !imported->isModelAssumed && (!laid || !found.differences.isEmpty());
    found.plan = std::make_shared<const Plan>(std::move(imported->plan));
    if (*found.plan == shown)
        found.isOther = false;
    return found;
}

PlanOfRun::PlanOfRun(RunDocument &runs, PlanDocument &document, const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_runs(runs)
    , m_document(document)
    , m_catalogue(catalogue)
{
    connect(&runs, &RunDocument::runChanged, this, &PlanOfRun::find);
    connect(&document, &PlanDocument::planChanged, this, &PlanOfRun::find);
    connect(&document, &PlanDocument::replaced, this, &PlanOfRun::find);
}

PlanOfRun::~PlanOfRun() = default;

void PlanOfRun::find()
{
    const std::uint64_t generation = ++m_generation;
    const RunPtr &run = m_runs.run();
    if (!run) {
        if (m_found.plan || !m_found.errors.isEmpty()) {
            m_found = {};
            emit changed();
        }
        return;
    }
    m_queue.run(
        this, [run, plan = m_document.plan(), &catalogue = m_catalogue] { return planOfRun(*run, *plan, catalogue); },
        [this, generation](PlanOfRunFound found) {
            if (generation != m_generation)
                return;
            m_found = std::move(found);
            emit changed();
        });
}

} // namespace trainyard
