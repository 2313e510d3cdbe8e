// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/calibration_rows.h"

#include "models/text/calibration_text.h"
#include "models/text/format.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

QString calibrationText(const char *source)
{
    return QCoreApplication::translate("CalibrationRows", source);
}

QString sentence(const std::string &utf8)
{
    QString text = QString::fromStdString(utf8);
    if (!text.isEmpty() && !text.endsWith(u'.'))
        text += u'.';
    return text;
}

/// What a plan keeps under the id; empty where it has none, or cannot be read.
std::optional<CalibrationFactor> factorIn(const Plan &plan, const std::string &id)
{
    const auto found = plan.calibration.find(id);
    if (found == plan.calibration.end() || !tellsWhatItIsAbout(found->second))
        return {};
    auto factor = parseCalibrationFactor(found->second, id);
    return factor ? std::optional(*std::move(factor)) : std::nullopt;
}

bool areAlike(std::optional<double> a, std::optional<double> b)
{
    return a.has_value() == b.has_value() && (!a || std::abs(*a - *b) <= 1e-9 * std::abs(*a));
}

/// The same effect from the same recording. How far steps lay off is judged anew with whatever else was taken.
bool isTakenAs(const CalibrationFactor &has, const CalibrationFactor &proposed)
{
    return has.isAccepted && has.what == proposed.what && has.gpu == proposed.gpu
        && has.datacenter == proposed.datacenter && has.between == proposed.between
        && areAlike(has.factor, proposed.factor) && areAlike(has.latencyUs, proposed.latencyUs)
        && areAlike(has.gbytesPerS, proposed.gbytesPerS) && has.recording == proposed.recording;
}

CalibrationRow factorRow(
    const std::string &id, const CalibrationFactor &factor, const Plan &plan, const Catalogue &catalogue)
{
    CalibrationRow row { .id = id };
    row.subject = subjectOf(factor, plan, catalogue);
    row.value = valueText(factor);
    row.basis = basisText(factor);
    row.errors = errorsText(factor);
    row.hint = meaningOf(factor.what);
    return row;
}

CalibrationRow proposedRow(const FittedFactor &fitted, const Plan &plan, const Catalogue &catalogue)
{
    CalibrationRow row = factorRow(fitted.id, fitted.factor, plan, catalogue);
    row.told = sentence(fitted.sentence);
    const std::optional<CalibrationFactor> has = factorIn(plan, fitted.id);
    if (has && isTakenAs(*has, fitted.factor)) {
        row.state = FactorState::Taken;
        row.errors = errorsText(*has);
    } else if (!fitted.refused.empty()) {
        row.state = FactorState::Refused;
        row.told = sentence(fitted.refused);
    } else if (has && has->isAccepted) {
        row.state = FactorState::Replaces;
        row.told += u' ';
        row.told +=
            calibrationText("The plan has %1 from %2.")
                .arg(shortValueText(*has),
                    has->recording.empty() ? calibrationText("elsewhere") : QString::fromStdString(has->recording));
    }
    return row;
}

CalibrationRow keptRow(const std::string &id, const std::string &json, const Plan &plan, const Catalogue &catalogue)
{
    const auto factor = tellsWhatItIsAbout(json) ? parseCalibrationFactor(json, id)
                                                 : std::unexpected(Error { ErrorCode::BadValue, id, {}, {} });
    CalibrationRow row { .id = id, .state = FactorState::Kept, .subject = QString::fromStdString(id) };
    if (!factor) {
        row.told = calibrationText("It does not tell what it is about, and is kept without effect.");
        return row;
    }
    row = factorRow(id, *factor, plan, catalogue);
    row.state = FactorState::Kept;
    row.from = QString::fromStdString(factor->recording);
    row.told =
        row.from.isEmpty() ? calibrationText("No recording is named.") : calibrationText("From %1.").arg(row.from);
    if (!factor->isAccepted)
        row.told += u' ' + calibrationText("Not accepted: it has no effect.");
    return row;
}

} // namespace

std::vector<CalibrationRow> calibrationRows(const Plan &plan, const ProposalPtr &proposal, const Catalogue &catalogue)
{
    std::vector<CalibrationRow> rows;
    const auto isTold = [&](const std::string &id) {
        return proposal && std::ranges::find(proposal->factors, id, &FittedFactor::id) != proposal->factors.end();
    };
    if (proposal)
        for (const FittedFactor &fitted : proposal->factors) {
            rows.push_back(proposedRow(fitted, plan, catalogue));
            // One that is refused now does not hide what the plan has taken before.
            const auto has = plan.calibration.find(fitted.id);
            if (rows.back().state == FactorState::Refused && has != plan.calibration.end())
                rows.push_back(keptRow(fitted.id, has->second, plan, catalogue));
        }
    for (const auto &[id, json] : plan.calibration)
        if (!isTold(id))
            rows.push_back(keptRow(id, json, plan, catalogue));
    return rows;
}

QStringList calibrationSentences(const Plan &plan, const Catalogue &catalogue)
{
    QStringList sentences;
    for (const auto &[id, json] : plan.calibration) {
        const std::optional<CalibrationFactor> factor = factorIn(plan, id);
        if (!factor || !factor->isAccepted)
            continue;
        QString one = subjectOf(*factor, plan, catalogue) + u' ' + shortValueText(*factor);
        if (!factor->recording.empty())
            one = calibrationText("%1, from %2").arg(one, QString::fromStdString(factor->recording));
        sentences << one;
    }
    return sentences;
}

CalibrationEdit taken(
    const Plan &plan, const CalibrationProposal &proposal, const std::string &id, const Catalogue &catalogue)
{
    const auto found = std::ranges::find(proposal.factors, id, &FittedFactor::id);
    if (found == proposal.factors.end() || !found->refused.empty())
        return {};
    return { std::make_shared<const Plan>(withFactors(plan, proposal, { id })),
        takeText(found->factor, plan, catalogue) };
}

CalibrationEdit allTaken(const Plan &plan, const CalibrationProposal &proposal, const Catalogue &catalogue)
{
    std::vector<std::string> ids;
    const FittedFactor *missing = nullptr;
    int count = 0;
    for (const FittedFactor &fitted : proposal.factors) {
        if (!fitted.refused.empty())
            continue;
        ids.push_back(fitted.id);
        const std::optional<CalibrationFactor> has = factorIn(plan, fitted.id);
        if (has && isTakenAs(*has, fitted.factor))
            continue;
        missing = &fitted;
        ++count;
    }
    if (count == 0)
        return {};
    auto next = std::make_shared<const Plan>(withFactors(plan, proposal, ids));
    if (count == 1)
        return { next, takeText(missing->factor, plan, catalogue) };
    return { next,
        calibrationText("Take %1 factors from %2").arg(count).arg(QString::fromStdString(missing->factor.recording)) };
}

CalibrationEdit removed(const Plan &plan, const std::string &id, const Catalogue &catalogue)
{
    if (!plan.calibration.contains(id))
        return {};
    Plan next = plan;
    next.calibration.erase(id);
    const std::optional<CalibrationFactor> factor = factorIn(plan, id);
    return { std::make_shared<const Plan>(std::move(next)),
        factor ? removeText(*factor, plan, catalogue)
               : calibrationText("Remove factor %1").arg(QString::fromStdString(id)) };
}

} // namespace trainyard
