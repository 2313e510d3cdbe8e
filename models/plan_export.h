#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What can be taken away from a plan as a file: the report as a page, the timeline for other tools, the numbers, the
// plan itself, the command that starts it. The same writers as trainyard-cli uses; never half a file. Any thread: an
// evaluation does not change.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/runs/launch/launch.h"

#include <QByteArray>
#include <QString>

#include <optional>
#include <vector>

namespace trainyard {

enum class ExportFormat {
    HtmlReport,
    PdfReport,
    ChromeTrace,
    TimelineCsv,
    NumbersCsv,
    Plan,
    MegatronScript,
    TorchtitanScript,
    SlurmJob,
    Dot,
    MegatronBridgeScript,
    DeepSpeedConfig,
    TrainJob,
    JobSet,
    SkyPilotTask
};

/// File name without its folder, made of the plan's name: "llama-3-70b-over-three-regions-report.html".
[[nodiscard]] QString exportFileName(const QString &planName, ExportFormat format);
/// ".html"
[[nodiscard]] QString exportSuffix(ExportFormat format);

/// What starts the training; a plan that the framework cannot run is refused with each key and why.
[[nodiscard]] bool isLaunch(ExportFormat format);
[[nodiscard]] ExpectedAll<LaunchFile> launchOf(ExportFormat format, const Evaluation &evaluation);
/// Of what starts the training; empty: another format.
[[nodiscard]] std::optional<LaunchTarget> launchTarget(ExportFormat format);

/// Every format but the commands that start it, and the PDF, which needs fonts (views/export/pdf_report.h).
[[nodiscard]] Expected<void> writeExport(
    ExportFormat format, const EvaluationPtr &evaluation, const QString &name, const QString &path);
[[nodiscard]] Expected<void> writePlanCopy(const Plan &plan, const QString &path);

/// The report before it is laid out, for whoever puts it on pages.
struct ReportPieces {
    struct Tile {
        QString label, value, note;
    };
    struct Card {
        QString title, html;
    }; // html with inline SVG, whose classes are those of `style`
    QString title, subtitle, notes, confidence;
    bool isFeasible = true;
    std::vector<Tile> tiles;
    std::vector<Card> cards;
    /// CSS for light paper, colours written out
    QString style;
    /// the plan file, and the XMP packet that holds it
    QByteArray plan, metadata;
};
[[nodiscard]] ReportPieces reportPieces(const EvaluationPtr &evaluation, const QString &name);

} // namespace trainyard
