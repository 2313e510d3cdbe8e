// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_of_run.h"

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/workload/model_spec.h"
#include "core/runs/imports/plan_from_recording.h"
#include "models/text/format.h"

#include <QCoreApplication>

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
    // Laid over all of the plan in the window, the files change nothing of a plan that they describe.
    const auto laid = planFrom(*run.recording, catalogue, shown);
    // Ranks and machines alone are no reason to offer another: a run of this very plan shows them too.
    found.isOther = !imported->isModelAssumed && (!laid || !(laid->plan == shown));
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
