#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// File ▸ Export: one slot per format. What is written is the evaluation of the plan as it stands; where that is still
// under way, the file is written when it comes. GUI thread; files are made in the background.

#include "models/plan_export.h"

#include <QObject>

#include <functional>
#include <optional>
#include <vector>

namespace trainyard {

class EvaluationBridge;
class FileTarget;
class PlanDocument;

class ExportActions : public QObject {
    Q_OBJECT
public:
    ExportActions(PlanDocument &document, EvaluationBridge &bridge, FileTarget &target, QObject *parent);

    /// Makes what is being typed part of the plan, before anything is written.
    void setCommitter(std::function<void()> commit) { m_commit = std::move(commit); }

public slots:
    void exportHtml() { run(ExportFormat::HtmlReport); }
    void exportPdf() { run(ExportFormat::PdfReport); }
    void exportTrace() { run(ExportFormat::ChromeTrace); }
    void exportTimeline() { run(ExportFormat::TimelineCsv); }
    void exportNumbers() { run(ExportFormat::NumbersCsv); }
    void exportPlan() { run(ExportFormat::Plan); }
    void exportMegatron() { run(ExportFormat::MegatronScript); }
    void exportTorchtitan() { run(ExportFormat::TorchtitanScript); }
    void exportSlurm() { run(ExportFormat::SlurmJob); }
    void exportDot() { run(ExportFormat::Dot); }
    void exportMegatronBridge() { run(ExportFormat::MegatronBridgeScript); }
    void exportDeepSpeed() { run(ExportFormat::DeepSpeedConfig); }
    void exportTrainJob() { run(ExportFormat::TrainJob); }
    void exportJobSet() { run(ExportFormat::JobSet); }
    void exportSkyPilot() { run(ExportFormat::SkyPilotTask); }

private:
    struct Job {
        ExportFormat format;
        QString path;
    };
    void run(ExportFormat format);
    /// what is evaluated is the document's plan
    [[nodiscard]] bool isSettled() const;
    /// empty: it is refused, which is said
    std::optional<LaunchFile> launchText(ExportFormat format);
    /// once the evaluation is that of the plan
    void writeWaiting();
    void write(const Job &job);
    /// another plan is open: what waits is not for it
    void forgetWaiting();

    PlanDocument &m_document;
    EvaluationBridge &m_bridge;
    FileTarget &m_target;
    std::function<void()> m_commit;
    std::vector<Job> m_waiting;
};

} // namespace trainyard
