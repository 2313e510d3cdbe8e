// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/export/export_actions.h"

#include "models/evaluation_bridge.h"
#include "models/plan_document.h"
#include "views/export/file_target.h"
#include "views/export/pdf_report.h"

#include <utility>

namespace trainyard {

namespace {

struct Words {
    QString what, filter;
};

Words wordsOf(ExportFormat format)
{
    switch (format) {
    case ExportFormat::HtmlReport:
        return { QObject::tr("Report"), QObject::tr("Report as a page (*.html)") };
    case ExportFormat::PdfReport:
        return { QObject::tr("Report"), QObject::tr("Report on pages (*.pdf)") };
    case ExportFormat::ChromeTrace:
        return { QObject::tr("Trace"), QObject::tr("Chrome trace, for ui.perfetto.dev (*.json)") };
    case ExportFormat::TimelineCsv:
        return { QObject::tr("Timeline"), QObject::tr("Comma-separated values (*.csv)") };
    case ExportFormat::NumbersCsv:
        return { QObject::tr("Numbers"), QObject::tr("Comma-separated values (*.csv)") };
    case ExportFormat::Plan:
        return { QObject::tr("Copy of the plan"), QObject::tr("Trainyard plans (*.trainyard.json)") };
    case ExportFormat::MegatronScript:
        return { QObject::tr("Megatron-LM launch script"), QObject::tr("Shell scripts (*.sh)") };
    case ExportFormat::TorchtitanScript:
        return { QObject::tr("torchtitan launch script"), QObject::tr("Shell scripts (*.sh)") };
    case ExportFormat::SlurmJob:
        return { QObject::tr("Slurm job"), QObject::tr("Slurm batch scripts (*.sbatch)") };
    case ExportFormat::Dot:
        return { QObject::tr("Tasks as a graph"), QObject::tr("Graphviz (*.dot)") };
    case ExportFormat::MegatronBridgeScript:
        return { QObject::tr("Megatron-Bridge launch script"), QObject::tr("Shell scripts (*.sh)") };
    case ExportFormat::DeepSpeedConfig:
        return { QObject::tr("DeepSpeed configuration"), QObject::tr("DeepSpeed configurations (*.json)") };
    case ExportFormat::TrainJob:
        return { QObject::tr("TrainJob of Kubeflow"), QObject::tr("Manifests of Kubernetes (*.yaml)") };
    case ExportFormat::JobSet:
        return { QObject::tr("JobSet of Kubernetes"), QObject::tr("Manifests of Kubernetes (*.yaml)") };
    case ExportFormat::SkyPilotTask:
        return { QObject::tr("SkyPilot task"), QObject::tr("Tasks of SkyPilot (*.yaml)") };
    }
    return {};
}

} // namespace

ExportActions::ExportActions(PlanDocument &document, EvaluationBridge &bridge, FileTarget &target, QObject *parent)
    : QObject(parent)
    , m_document(document)
    , m_bridge(bridge)
    , m_target(target)
{
    connect(&bridge, &EvaluationBridge::evaluationFinished, this, &ExportActions::writeWaiting);
    for (const auto signal : { &PlanDocument::replaced, &PlanDocument::exchanged })
        connect(&document, signal, this, &ExportActions::forgetWaiting);
    connect(&bridge, &EvaluationBridge::evaluationFailed, this, [this](const PlanPtr &plan, const Errors &errors) {
        if (plan != m_document.plan() || std::exchange(m_waiting, {}).empty())
            return;
        m_target.sayFailure(tr("Nothing was written: this plan cannot be evaluated."),
            errors.empty() ? QString() : QString::fromStdString(toString(errors.front())));
    });
}

void ExportActions::run(ExportFormat format)
{
    if (m_commit)
        m_commit();
    // What is refused is said before anybody chooses a file for it.
    if (isLaunch(format) && isSettled() && !launchText(format))
        return;
    const Words words = wordsOf(format);
    const QString suffix = exportSuffix(format);
    const QString path = m_target.ask(tr("Export: %1").arg(isLaunch(format) ? words.what : words.what.toLower()),
        exportFileName(m_document.displayName(), format),
        format == ExportFormat::Plan ? QStringLiteral(".json") : suffix, words.filter);
    if (path.isEmpty())
        return;
    if (format == ExportFormat::Plan) {
        m_target.write(
            words.what, path, [plan = m_document.plan()](const QString &to) { return writePlanCopy(*plan, to); });
        return;
    }
    m_waiting.push_back({ format, path });
    writeWaiting();
}

void ExportActions::forgetWaiting()
{
    if (!std::exchange(m_waiting, {}).empty())
        m_target.sayFailure(tr("Nothing was written: another plan was opened before this one was evaluated."), {});
}

bool ExportActions::isSettled() const
{
    return m_bridge.settled() && m_bridge.settled()->plan == m_document.plan();
}

std::optional<LaunchFile> ExportActions::launchText(ExportFormat format)
{
    auto launch = launchOf(format, *m_bridge.settled());
    if (launch)
        return *std::move(launch);
    QStringList lines;
    for (const Error &error : launch.error())
        lines << QString::fromStdString(toString(error));
    m_target.sayFailure(tr("This plan cannot be written as a %1.").arg(wordsOf(format).what), lines.join(u'\n'));
    return {};
}

void ExportActions::writeWaiting()
{
    if (!isSettled())
        return;
    for (const Job &job : std::exchange(m_waiting, {}))
        write(job);
}

void ExportActions::write(const Job &job)
{
    if (isLaunch(job.format)) {
        const std::optional<LaunchFile> launch = launchText(job.format);
        if (!launch)
            return;
        QStringList notes; // what the framework does otherwise
        for (const std::string &note : launch->notes)
            notes << QString::fromStdString(note) + (note.ends_with('.') ? QString() : QStringLiteral("."));
        m_target.write(wordsOf(job.format).what, job.path, QByteArray::fromStdString(launch->text), notes.join(u'\n'));
        return;
    }
    m_target.write(wordsOf(job.format).what, job.path,
        [evaluation = m_bridge.settled(), name = m_document.displayName(), format = job.format](const QString &to) {
            return format == ExportFormat::PdfReport ? writePdfReport(evaluation, name, to)
                                                     : writeExport(format, evaluation, name, to);
        });
}

} // namespace trainyard
