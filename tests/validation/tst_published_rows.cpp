// SPDX-License-Identifier: GPL-3.0-or-later
// The built-in measurements against the model: no error that was reached before gets worse, and what is committed about
// them (docs/validation.md, confidence.json) is what the program finds. After a change that moves predictions on
// purpose: scripts/validation, and read the difference.

#include "core/validation/confidence_fit.h"
#include "core/validation/embedded_files.h"
#include "core/validation/reached.h"
#include "core/validation/validation_report.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

constexpr double kRoundingShare = 0.02, kRounding = 0.2;   // of a printed number: compilers differ in the last bits

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

} // namespace

class TstPublishedRows : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        ValidationRun run = runRows(builtinRows(), builtinCatalogue());
        m_validation = summarised(builtinRows(), std::move(run), builtinGates());
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
                return f.source == now.source && f.group == now.group && f.metric == now.metric && f.role == now.role && f.status == now.status;
            });
            QVERIFY2(isRecorded, (now.source + ", " + now.group + ", " + now.metric + " is not recorded: run scripts/validation").c_str());
        }
    }

    void thePageShowsWhatTheProgramFinds()
    {
        const QStringList committed = readFile("docs/validation.md").split(u'\n');
        const QStringList now = QString::fromStdString(validationMarkdown(m_validation, leftOutRows())).split(u'\n');
        for (int i = 0; i < std::min(committed.size(), now.size()); ++i)
            QVERIFY2(isAlike(committed[i], now[i]),
                qPrintable(QStringLiteral("docs/validation.md is stale, run scripts/validation\n%1\n%2").arg(committed[i], now[i])));
        QCOMPARE(committed.size(), now.size());
    }

    void theConfidenceLabelRestsOnTheseRows()
    {
        const ConfidenceData now = confidenceData(m_validation.run.results, builtinCatalogue());
        const ConfidenceData &committed = builtinCatalogue().confidence;
        constexpr double slack = 0.01;
        QCOMPARE(committed.spreads.size(), now.spreads.size());
        for (std::size_t i = 0; i < now.spreads.size(); ++i) {
            const ResidualSpread &was = committed.spreads[i], &is = now.spreads[i];
            const bool isSame = was.key == is.key && was.rows == is.rows && std::abs(was.range.low - is.range.low) < slack
                && std::abs(was.range.high - is.range.high) < slack;
            QVERIFY2(isSame, ("resources/catalog/confidence.json is stale for " + is.key.stack + " on " + is.key.gpu + ": run scripts/validation").c_str());
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
};

QTEST_APPLESS_MAIN(TstPublishedRows)
#include "tst_published_rows.moc"
