// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/plan_export.h"

#include "core/base/output_file.h"
#include "core/evaluation/report/chrome_trace.h"
#include "core/evaluation/report/html_report.h"
#include "core/evaluation/report/report_parts.h"
#include "core/evaluation/report/report_style.h"
#include "core/evaluation/report/timeline_csv.h"
#include "core/evaluation/report/useful_parts.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/embedded_plan.h"
#include "core/facts/plan/plan_io.h"
#include "models/plan_store.h"
#include "models/text/utf8.h"

#include <QFileInfo>
#include <QHash>
#include <QRegularExpression>
#include <QStringList>

namespace trainyard {

namespace {

struct Naming {
    const char *ending, *suffix;
};

/// In the order of ExportFormat.
constexpr Naming kNamings[] = { { "-report", ".html" }, { "-report", ".pdf" }, { "-trace", ".json" },
    { "-timeline", ".csv" }, { "-numbers", ".csv" }, { "", ".trainyard.json" }, { "-megatron", ".sh" },
    { "-torchtitan", ".sh" }, { "", ".sbatch" }, { "-tasks", ".dot" }, { "-megatron-bridge", ".sh" },
    { "-deepspeed", ".json" }, { "-trainjob", ".yaml" }, { "-jobset", ".yaml" }, { "-skypilot", ".yaml" } };

/// The style sheet with its variables written out, as on light paper: what lays out pages knows no variables.
QString styleOnPaper(bool isOfJobs)
{
    const auto sheet = [](std::string_view css) { return QString::fromUtf8(css.data(), qsizetype(css.size())); };
    QString style = sheet(reportStyle());
    static const QRegularExpression variable(QStringLiteral("(--[a-z]+):(#[0-9a-f]+);"));
    QHash<QString, QString> colours;
    for (auto found = variable.globalMatch(style.left(style.indexOf(u'@'))); found.hasNext();) {
        const auto match = found.next();
        colours.insert(match.captured(1), match.captured(2));
    }
    if (isOfJobs) // its rules for dark screens stand last
        style += sheet(jobStyle()).section(u'@', 0, 0);
    for (auto [name, colour] : colours.asKeyValueRange())
        style.replace(QStringLiteral("var(%1)").arg(name), colour);
    return style;
}

} // namespace

QString exportSuffix(ExportFormat format)
{
    return QLatin1String(kNamings[std::size_t(format)].suffix);
}

QString exportFileName(const QString &planName, ExportFormat format)
{
    static const QRegularExpression unsafe(QStringLiteral("[^\\p{L}\\p{N}.]+"));
    QString name = planName.toLower().replace(unsafe, QStringLiteral("-"));
    while (name.startsWith(u'-') || name.startsWith(u'.'))
        name.remove(0, 1);
    while (name.endsWith(u'-') || name.endsWith(u'.'))
        name.chop(1);
    if (name.isEmpty())
        name = QStringLiteral("plan");
    return name.left(80) + QLatin1String(kNamings[std::size_t(format)].ending) + exportSuffix(format);
}

std::optional<LaunchTarget> launchTarget(ExportFormat format)
{
    switch (format) {
    case ExportFormat::MegatronScript:
        return LaunchTarget::Megatron;
    case ExportFormat::TorchtitanScript:
        return LaunchTarget::Torchtitan;
    case ExportFormat::SlurmJob:
        return LaunchTarget::Slurm;
    case ExportFormat::MegatronBridgeScript:
        return LaunchTarget::MegatronBridge;
    case ExportFormat::DeepSpeedConfig:
        return LaunchTarget::DeepSpeed;
    case ExportFormat::TrainJob:
        return LaunchTarget::TrainJob;
    case ExportFormat::JobSet:
        return LaunchTarget::JobSet;
    case ExportFormat::SkyPilotTask:
        return LaunchTarget::SkyPilot;
    case ExportFormat::HtmlReport:
    case ExportFormat::PdfReport:
    case ExportFormat::ChromeTrace:
    case ExportFormat::TimelineCsv:
    case ExportFormat::NumbersCsv:
    case ExportFormat::Plan:
    case ExportFormat::Dot:
        break;
    }
    return std::nullopt;
}

bool isLaunch(ExportFormat format)
{
    return launchTarget(format).has_value();
}

ExpectedAll<LaunchFile> launchOf(ExportFormat format, const Evaluation &evaluation)
{
    return launchFile(evaluation, launchTarget(format).value_or(LaunchTarget::Megatron));
}

Expected<void> writeExport(
    ExportFormat format, const EvaluationPtr &evaluation, const QString &name, const QString &path)
{
    std::vector<NamedEvaluation> plans { { name.toStdString(), path.toStdString(), evaluation } };
    if (format == ExportFormat::HtmlReport)
        plans.front().parts = usefulParts(*evaluation, builtinCatalogue());
    const auto write = [&](std::ostream &out) {
        switch (format) {
        case ExportFormat::HtmlReport:
            out << htmlReport(plans);
            break;
        case ExportFormat::ChromeTrace:
            writeChromeTrace(*evaluation, out);
            break;
        case ExportFormat::TimelineCsv:
            writeTimelineCsv(*evaluation, out);
            break;
        case ExportFormat::NumbersCsv:
            out << comparisonCsv(plans);
            break;
        case ExportFormat::Dot:
            out << dotOf(*evaluation);
            break;
        default: // written by whoever makes its text or pages
            break;
        }
    };
    if (format == ExportFormat::Plan)
        return writePlanCopy(*evaluation->plan, path);
    return writeOutputFile(path.toStdString(), write, OutputKinds::RegularOnly);
}

Expected<void> writePlanCopy(const Plan &plan, const QString &path)
{
    return writePlan(plan, path.toStdString());
}

ReportPieces reportPieces(const EvaluationPtr &evaluation, const QString &name)
{
    ReportPieces pieces;
    pieces.title = name;
    pieces.subtitle = fromUtf8(reportSubtitle(*evaluation));
    pieces.notes = fromUtf8(evaluation->plan->notes);
    const Confidence &confidence = evaluation->metrics.confidence;
    QStringList said { fromUtf8(confidence.label), fromUtf8(confidenceSentence(confidence)) };
    said.removeAll(QString());
    pieces.confidence = said.join(QStringLiteral(": "));
    pieces.isFeasible = evaluation->feasible();
    for (const ReportTile &tile : reportTiles(*evaluation))
        pieces.tiles.push_back({ fromUtf8(tile.label), fromUtf8(tile.value), fromUtf8(tile.note) });
    for (const ReportCard &card :
        reportCards(*evaluation, evaluation->timeline.duration, usefulParts(*evaluation, builtinCatalogue())))
        pieces.cards.push_back({ fromUtf8(card.title), fromUtf8(card.html) });
    pieces.style = styleOnPaper(evaluation->metrics.jobs.has_value());
    const Plan plan = withModelInside(*evaluation->plan, evaluation->model);
    pieces.plan = QByteArray::fromStdString(formatPlan(plan));
    pieces.metadata = QByteArray::fromStdString(planMetadata(plan));
    return pieces;
}

} // namespace trainyard
