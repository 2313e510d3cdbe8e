// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/report.h"

#include "core/base/printable.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/plan_io.h"
#include "views/export/pdf_report.h"

#include <QDir>
#include <QFileInfo>

#include <cstdio>

namespace trainyard {

namespace {

int fail(const Errors &errors)
{
    for (const Error &error : errors)
        std::fprintf(stderr, "trainyard: %s\n", printable(toString(error), LineBreaks::Kept).c_str());
    return 2;
}

ExpectedAll<Plan> planAt(const QString &path)
{
    if (path != QStringLiteral("-"))
        return readPlan(path.toStdString());
    const auto text = readStandardInput(kPlanFile);
    if (!text)
        return std::unexpected(Errors { text.error() });
    return parsePlan(*text, "stdin", QDir::currentPath().toStdString());
}

} // namespace

int writeReport(const QString &plan, const QString &out)
{
    ExpectedAll<Plan> read = planAt(plan);
    if (!read)
        return fail(read.error());
    EvaluationWorkspace workspace;
    const auto evaluation = evaluate(std::make_shared<const Plan>(std::move(*read)), builtinCatalogue(), workspace);
    if (!evaluation)
        return fail(evaluation.error());
    const std::string &name = (*evaluation)->plan->name;
    const auto written =
        writePdfReport(*evaluation, name.empty() ? QFileInfo(plan).fileName() : QString::fromStdString(name), out);
    return written ? 0 : fail({ written.error() });
}

} // namespace trainyard
