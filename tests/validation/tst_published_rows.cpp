// SPDX-License-Identifier: GPL-3.0-or-later
// The built-in measurements against the model: no error that was reached before gets worse, and what is committed about
// them (docs/validation.md, confidence.json) is what the program finds. After a change that moves predictions on
// purpose: scripts/validation, and read the difference.

#include "core/evaluation/evaluate/metrics/confidence.h"
#include "core/evaluation/validation/embedded_files.h"
#include "core/evaluation/validation/held_out.h"
#include "core/evaluation/validation/validation_report.h"
#include "tests/support/test_program.h"
#include "tools/fits/confidence_fit.h"
#include "tools/fits/reached.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace trainyard;

namespace {

constexpr double kRoundingShare = 0.02, kRounding = 0.2; // of a printed number: compilers differ in the last bits

QString readFile(const char *path)
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/") + QLatin1String(path));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// A line's text with a # for each number, and the numbers.
std::pair<QString, std::vector<double>> parts(const QString &line)
{
    static const QRegularExpression number(QStringLiteral("\\d+(,\\d{3})*(\\.\\d+)?"));
    std::pair<QString, std::vector<double>> result;
    int from = 0;
    for (auto found = number.globalMatch(line); found.hasNext();) {
        const auto match = found.next();
        result.first += line.mid(from, match.capturedStart() - from) + u'#';
        result.second.push_back(match.captured().remove(u',').toDouble());
        from = int(match.capturedEnd());
    }
    // The sign of an error that rounds to nothing is nothing.
    result.first += line.mid(from);
    result.first.replace(QRegularExpression(QStringLiteral("[+\u2212](?=#)")), QString());
    return result;
}

bool isAlike(const QString &a, const QString &b)
{
    const auto x = parts(a), y = parts(b);
    if (x.first != y.first || x.second.size() != y.second.size())
        return false;
    for (std::size_t i = 0; i < x.second.size(); ++i) {
        if (std::abs(x.second[i] - y.second[i]) > kRoundingShare * std::abs(x.second[i]) + kRounding)
            return false;
    }
    return true;
}

std::vector<TimedRow> gated(std::vector<TimedRow> rows)
{
    std::erase_if(rows, [](const TimedRow &row) { return row.result->status != RowStatus::Gated; });
    return rows;
}

std::string nameOf(const EvidenceKey &k)
{
    return k.stack + k.gpu + std::to_string(k.precisionBits) + (k.isMoe ? "m" : "") + (k.shardsWeights ? "s" : "")
        + toString(k.reach);
}

/// Of the rows that differ least from a plan: from the 5 % to the 95 % quantile, and the prediction itself.
TimeRange nearestSpread(const std::vector<TimedRow> &rows, const EvidenceKey &plan)
{
    std::map<int, std::vector<double>> errors; // by distance
    for (const TimedRow &row : rows)
        errors[evidenceDistance(row.result->evidence.front(), plan)].push_back(row.error);
    std::vector<double> &nearest = errors.begin()->second;
    std::ranges::sort(nearest);
    const std::size_t outside = nearest.size() / 20;
    return { std::min(0.0, nearest[outside]), std::max(0.0, nearest[nearest.size() - 1 - outside]) };
}

} // namespace

class TstPublishedRows : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        ValidationRun run = runRows(builtinRows(), builtinCatalogue());
        m_unmeasured = runRows(builtinRows(), withoutMeasuredKernels(builtinCatalogue())).results;
        auto coverage = heldOutCoverage(run.results, run.results, m_unmeasured);
        m_validation = summarised(builtinRows(), std::move(run), builtinGates(), std::move(coverage));
        QVERIFY(m_validation.run.isComplete);
        QVERIFY(m_validation.run.results.size() > 100);
    }

    void noReachedFigureGetsWorse()
    {
        const auto recorded = parseReached(embeddedValidationFile("reached.json"), "reached.json");
        QVERIFY2(recorded, "resources/validation/reached.json is missing or broken: scripts/validation writes it");
        QVERIFY(!recorded->empty());
        const auto worse = worseThan(*recorded, reachedFigures(m_validation.run.results));
        QString text;
        for (const std::string &sentence : worse)
            text += QString::fromStdString(sentence) + u'\n';
        QVERIFY2(worse.empty(), qPrintable(text));
    }

    void everySourceIsRecorded()
    {
        const auto recorded = parseReached(embeddedValidationFile("reached.json"), "reached.json");
        QVERIFY(recorded);
        for (const ReachedFigure &now : reachedFigures(m_validation.run.results)) {
            const bool isRecorded = std::ranges::any_of(*recorded, [&](const ReachedFigure &f) {
                return f.source == now.source && f.group == now.group && f.metric == now.metric && f.role == now.role
                    && f.status == now.status;
            });
            QVERIFY2(isRecorded,
                (now.source + ", " + now.group + ", " + now.metric + " is not recorded: run scripts/validation")
                    .c_str());
        }
    }

    void thePageShowsWhatTheProgramFinds()
    {
        const QStringList committed = readFile("docs/validation.md").split(u'\n');
        const QStringList now = QString::fromStdString(validationMarkdown(m_validation, leftOutRows())).split(u'\n');
        for (int i = 0; i < std::min(committed.size(), now.size()); ++i)
            QVERIFY2(isAlike(committed[i], now[i]),
                qPrintable(QStringLiteral("docs/validation.md is stale, run scripts/validation\n%1\n%2")
                               .arg(committed[i], now[i])));
        QCOMPARE(committed.size(), now.size());
    }

    void theConfidenceLabelRestsOnTheseRows()
    {
        const ConfidenceData now = confidenceData(m_validation.run.results, m_unmeasured);
        const ConfidenceData &committed = builtinCatalogue().confidence;
        QVERIFY2(
            committed.evidence == now.evidence, "resources/catalog/confidence.json is stale: run scripts/validation");
        QCOMPARE(committed.ranges.size(), now.ranges.size());
        constexpr double slack = 0.01;
        for (std::size_t i = 0; i < now.ranges.size(); ++i) {
            const LabelRange &was = committed.ranges[i], &is = now.ranges[i];
            const bool isSame = was.label == is.label && was.shardingStack == is.shardingStack && was.isMoe == is.isMoe
                && was.stack == is.stack && was.rows == is.rows && std::abs(was.range.low - is.range.low) < slack
                && std::abs(was.range.high - is.range.high) < slack;
            QVERIFY2(isSame,
                (std::string("resources/catalog/confidence.json is stale for ") + toString(is.label)
                    + ": run scripts/validation")
                    .c_str());
        }
    }

    /// Nine in ten is what the ranges promise of rows that they have not seen; they may miss it by a little when
    /// predictions move.
    void theRangesOfEveryLabelHoldOnPublicationsThatTheyHaveNotSeen()
    {
        QCOMPARE(m_validation.coverage.size(), std::size(kConfidenceLabels));
        for (const LabelCoverage &label : m_validation.coverage) {
            const QByteArray found = QStringLiteral("%1: %2 inside, %3 with publications alike")
                                         .arg(QLatin1String(toString(label.label)))
                                         .arg(label.all.inside)
                                         .arg(label.all.insideAlike)
                                         .toUtf8();
            // Of the spec sheet most rows are one sweep of small kernels, which the curve for unmeasured GPUs meets
            // best of all.
            const bool isOneSweep = label.label == ConfidenceLabel::SpecSheet;
            QVERIFY2(label.all.inside > (isOneSweep ? 0.75 : 0.8) && label.all.inside < 0.98, found.constData());
            QVERIFY2(label.all.insideAlike > 0.78 && label.all.insideAlike < 0.99, found.constData());
        }
    }

    /// Against what a reader of the page would do by hand: the plain spread of the rows that are nearest to the plan.
    void theyScoreBetterThanTheSpreadOfTheNearestRows()
    {
        std::map<ConfidenceLabel, std::vector<double>> naive;
        const std::vector<TimedRow> rows = gated(timedRows(m_validation.run.results));
        std::map<std::string, std::vector<TimedRow>> others; // by publication: without it
        for (const TimedRow &row : rows)
            others[row.result->publication];
        for (auto &[publication, kept] : others)
            std::ranges::copy_if(rows, std::back_inserter(kept),
                [&](const TimedRow &row) { return row.result->publication != publication; });
        std::map<std::pair<std::string, std::string>, std::pair<ConfidenceLabel, TimeRange>>
            known; // publication and combination
        for (const TimedRow &row : rows) {
            const ValidationResult &r = *row.result;
            const auto [found, isNew] = known.try_emplace({ r.publication, nameOf(r.evidence.front()) });
            if (isNew)
                found->second = { labelOf(r, evidenceOf(others[r.publication])),
                    nearestSpread(others[r.publication], r.evidence.front()) };
            naive[found->second.first].push_back(intervalScore(row.error, found->second.second));
        }
        for (const LabelCoverage &label : m_validation.coverage) {
            if (label.label == ConfidenceLabel::SpecSheet)
                continue; // which no row here is of
            const std::vector<double> &scores = naive[label.label];
            QCOMPARE(label.all.rows, int(scores.size()));
            const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / double(scores.size());
            QVERIFY2(label.all.score < mean,
                qPrintable(QStringLiteral("%1: %2, by hand %3")
                               .arg(QLatin1String(toString(label.label)))
                               .arg(label.all.score)
                               .arg(mean)));
        }
    }

    void zero3Of2021WidensNoOtherStack()
    {
        std::vector<ValidationResult> without = m_validation.run.results;
        std::erase_if(without, [](const ValidationResult &r) { return r.source == "narayanan2021_table2_zero3"; });
        QVERIFY(without.size() < m_validation.run.results.size());
        const ConfidenceData all = confidenceData(m_validation.run.results), others = confidenceData(without);
        for (const LabelRange &range : others.ranges) {
            const auto same = std::ranges::find_if(all.ranges, [&](const LabelRange &r) {
                return r.label == range.label && r.shardingStack == range.shardingStack && r.isMoe == range.isMoe
                    && r.stack == range.stack;
            });
            QVERIFY(same != all.ranges.end());
            QVERIFY2(same->range.low >= range.range.low - 1e-9 && same->range.high <= range.range.high + 1e-9,
                toString(range.label));
        }
    }

    void everyGateIsMetOrSaidToBeMissed()
    {
        const QString page = readFile("docs/validation.md");
        for (const GateOutcome &outcome : m_validation.gates) {
            QVERIFY2(outcome.n > 0, outcome.gate.title.c_str());
            QVERIFY2(outcome.isMet || page.contains(QLatin1String("**missed")), outcome.gate.title.c_str());
        }
    }

private:
    Validation m_validation;
    std::vector<ValidationResult> m_unmeasured;
};

TRAINYARD_APPLESS_TEST(TstPublishedRows)
#include "tst_published_rows.moc"
