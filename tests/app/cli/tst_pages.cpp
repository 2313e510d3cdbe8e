// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of the repository and of docs/: links lead somewhere, pictures are those that scripts/pictures makes, commands
// run, and figures of samples are what the program answers today. Where a figure differs the test prints the sentence
// that would be right.
#include "core/base/number_text.h"
#include "core/evaluation/advice/evaluate.h"
#include "core/evaluation/advice/job_comparison.h"
#include "core/evaluation/evaluate/run_cache.h"
#include "core/evaluation/report/job_comparison_report.h"
#include "core/evaluation/report/job_text.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

using namespace trainyard;

namespace {

const QDir kRoot(QStringLiteral(TRAINYARD_SOURCE_DIR));

QString textOf(const QString &path)
{
    QFile file(kRoot.filePath(path));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QStringList pages()
{
    QStringList found { QStringLiteral("README.md"), QStringLiteral("ARCHITECTURE.md"),
        QStringLiteral("CONTRIBUTING.md"), QStringLiteral("CHANGELOG.md"), QStringLiteral("SECURITY.md") };
    for (const char *folder : { "docs/", "docs/house/", "docs/releases/" })
        for (const QString &name : QDir(kRoot.filePath(QLatin1String(folder))).entryList({ QStringLiteral("*.md") }))
            found.append(QLatin1String(folder) + name);
    return found;
}

/// Of each heading, as GitHub makes it: small letters, no punctuation, hyphens for spaces.
QSet<QString> anchors(const QString &text)
{
    static const QRegularExpression heading(QStringLiteral("^#+ (.*)$"), QRegularExpression::MultilineOption);
    static const QRegularExpression punctuation(
        QStringLiteral("[^\\w\\- ]"), QRegularExpression::UseUnicodePropertiesOption);
    QSet<QString> found;
    for (auto all = heading.globalMatch(text); all.hasNext();)
        found.insert(all.next().captured(1).toLower().remove(punctuation).replace(u' ', u'-'));
    return found;
}

/// What a page points to within the repository: files and pictures.
QStringList targets(const QString &text)
{
    static const QRegularExpression link(QStringLiteral("\\]\\(([^)\\s]+)\\)|(?:src|srcset)=\"([^\"]+)\""));
    QStringList found;
    for (auto all = link.globalMatch(text); all.hasNext();) {
        const auto match = all.next();
        const QString target = match.captured(1) + match.captured(2);
        if (!target.contains(QStringLiteral("://")) && !target.startsWith(QStringLiteral("mailto:")))
            found.append(target);
    }
    return found;
}

QString fileOf(const QString &page, const QString &target)
{
    return QDir::cleanPath(QFileInfo(page).path() + u'/' + target.section(u'#', 0, 0));
}

Plan sample(const char *name, std::initializer_list<std::pair<const char *, const char *>> keys = {})
{
    Plan plan = test::samplePlan(name);
    for (const auto &[key, value] : keys)
        plan = withKeySet(plan, key, value).value_or(Plan {});
    return plan;
}

EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto evaluation =
        evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    return evaluation ? *evaluation : nullptr;
}

double iterationOf(const Plan &plan)
{
    return evaluated(plan)->metrics.iterationTime.value();
}

void comparePage(const char *path, const std::string &part)
{
    QString text = textOf(QLatin1String(path));
    text.replace(u'\n', u' ');
    QVERIFY2(text.contains(QString::fromStdString(part)),
        qPrintable(QStringLiteral("%1 should say \"%2\"").arg(QLatin1String(path), QString::fromStdString(part))));
}

} // namespace

class TstPages : public QObject {
    Q_OBJECT

private slots:
    void everyLinkLeadsSomewhere()
    {
        int links = 0;
        for (const QString &page : pages()) {
            const QString text = textOf(page);
            for (const QString &target : targets(text)) {
                ++links;
                const QString file = target.startsWith(u'#') ? page : fileOf(page, target);
                QVERIFY2(QFile::exists(kRoot.filePath(file)), qPrintable(page + QStringLiteral(" links to ") + target));
                if (target.contains(u'#'))
                    QVERIFY2(anchors(textOf(file)).contains(target.section(u'#', 1)),
                        qPrintable(page + QStringLiteral(" links to ") + target));
            }
        }
        QVERIFY(links > 30);
    }

    /// "`core/engine/timeline/simd_batch.h`"; a header and its source may be named without their endings.
    void everyPathThatAPageNamesIsThere()
    {
        static const QRegularExpression named(QStringLiteral(
            "`((?:app|core|docs|models|packaging|resources|samples|scripts|tests|tools|views)/[\\w/.-]+)`"));
        int paths = 0;
        for (const QString &page : pages()) {
            for (auto all = named.globalMatch(textOf(page)); all.hasNext();) {
                const QString path = all.next().captured(1);
                static constexpr std::array kEnds { "", ".h", ".cpp" };
                const bool isThere = std::ranges::any_of(
                    kEnds, [&](const char *end) { return kRoot.exists(path + QLatin1String(end)); });
                QVERIFY2(isThere, qPrintable(page + QStringLiteral(" names ") + path));
                ++paths;
            }
        }
        QVERIFY(paths > 100);
    }

    /// One command makes them all: shown, made and there are the same files, of the size that the command asks for.
    void everyPictureIsMadeByTheCommandAndShown()
    {
        static const QRegularExpression made(
            QStringLiteral("^picture +(\\S+) +(?:light|dark) +\\S+ +(\\S+)(?: +\\S+){0,2}$"),
            QRegularExpression::MultilineOption);
        QSet<QString> names, shown;
        for (auto all = made.globalMatch(textOf(QStringLiteral("scripts/pictures"))); all.hasNext();) {
            const auto match = all.next();
            names.insert(QStringLiteral("docs/images/") + match.captured(1) + QStringLiteral(".png"));
            const QString sample = kRoot.filePath(QStringLiteral("samples/") + match.captured(2));
            QVERIFY2(QFile::exists(sample + QStringLiteral(".trainyard.json"))
                    || QFile::exists(sample + QStringLiteral(".trainyard-session")),
                qPrintable(match.captured(2)));
        }
        for (const QString &page : pages()) {
            for (const QString &target : targets(textOf(page)))
                if (target.endsWith(QStringLiteral(".png")))
                    shown.insert(fileOf(page, target));
        }
        QSet<QString> there;
        for (const QString &name : QDir(kRoot.filePath(QStringLiteral("docs/images"))).entryList(QDir::Files))
            there.insert(QStringLiteral("docs/images/") + name);
        QVERIFY(names.size() >= 6);
        QCOMPARE(shown, names);
        QCOMPARE(there, names);
        for (const QString &name : names) {
            QFile file(kRoot.filePath(name));
            QVERIFY(file.open(QIODevice::ReadOnly));
            QCOMPARE(
                file.read(24).mid(16), QByteArray::fromHex("000005a000000384")); // of a PNG: width 1440, height 900
        }
    }

    /// Lines of the pages' code blocks that call the program, with the variables that they set before.
    void everyCommandOfThePagesRuns()
    {
        QTemporaryDir folder;
        QVERIFY(QFile::link(kRoot.filePath(QStringLiteral("samples")), folder.filePath(QStringLiteral("samples"))));
        int commands = 0;
        for (const QString &page : pages()) {
            QString variables;
            bool isCode = false;
            for (const QString &line : textOf(page).split(u'\n')) {
                if (line.startsWith(QStringLiteral("```")))
                    isCode = !isCode;
                static const QRegularExpression assignment(QStringLiteral("^[A-Za-z]+="));
                if (isCode && assignment.match(line).hasMatch())
                    variables += line + QStringLiteral("; ");
                if (!isCode || !line.startsWith(QStringLiteral("trainyard-cli ")))
                    continue;
                ++commands;
                QProcess process;
                process.setWorkingDirectory(folder.path());
                QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
                environment.insert(QStringLiteral("PATH"),
                    QFileInfo(QStringLiteral(TRAINYARD_CLI)).path() + u':' + environment.value(QStringLiteral("PATH")));
                process.setProcessEnvironment(environment);
                process.start(QStringLiteral("sh"), { QStringLiteral("-c"), variables + line });
                QVERIFY2(process.waitForFinished(60000) && process.exitStatus() == QProcess::NormalExit
                        && process.exitCode() == 0,
                    qPrintable(page + QStringLiteral(": ") + line + QStringLiteral("\n")
                        + QString::fromUtf8(process.readAllStandardError())));
                QVERIFY2(line.contains(QStringLiteral("--out")) || !process.readAllStandardOutput().isEmpty(),
                    qPrintable(line));
            }
        }
        QVERIFY2(commands >= 16, qPrintable(QString::number(commands)));
    }

    void samplesAreCountedInWords()
    {
        const char *kWords[] = { "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
            "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen" };
        const auto count =
            QDir(kRoot.filePath(QStringLiteral("samples"))).entryList({ QStringLiteral("*.trainyard.json") }).size();
        comparePage("docs/plan-file.md", "`samples/` holds " + std::string(kWords[count]) + " real ones");
    }

    /// Rows that are gated, guessed, left out and, where a source judges, used for fitting all the same.
    void theRowsOfEverySourceAreCounted()
    {
        std::map<QString, int> left;
        const auto notUsed =
            nlohmann::json::parse(textOf(QStringLiteral("resources/validation/usable.json")).toStdString());
        for (const nlohmann::json &row : notUsed["rows"])
            ++left[QString::fromStdString(row["source"].get<std::string>())];
        const QString page = textOf(QStringLiteral("docs/validation-sources.md"));
        int sources = 0, allGated = 0, allGuessed = 0, allLeft = 0;
        for (const QString &name :
            QDir(kRoot.filePath(QStringLiteral("resources/validation"))).entryList({ QStringLiteral("*.json") })) {
            const auto file =
                nlohmann::json::parse(textOf(QStringLiteral("resources/validation/") + name).toStdString());
            if (!file.contains("rows") || !file.contains("source"))
                continue;
            int gated = 0, guessed = 0, fitting = 0;
            for (const nlohmann::json &row : file["rows"]) {
                (row.value("status", "") == "guessed" ? guessed : gated) += 1;
                fitting += row.value("role", "") == "fit";
            }
            const QString source = QString::fromStdString(file["source"].get<std::string>());
            const QString use = file["role"] == "fit" ? QStringLiteral("fitting")
                : fitting == 0                        ? QStringLiteral("judging")
                                                      : QStringLiteral("judging; %1 rows for fitting").arg(fitting);
            const QString counts =
                QStringLiteral("| %1 | %2 | %3 | %4 |").arg(use).arg(gated).arg(guessed).arg(left[source]);
            const QRegularExpression line(
                QStringLiteral("\\n\\| `%1` .*%2")
                    .arg(QRegularExpression::escape(source), QRegularExpression::escape(counts)));
            QVERIFY2(line.match(page).hasMatch(), qPrintable(source + QStringLiteral(" should have ") + counts));
            ++sources;
            allGated += gated;
            allGuessed += guessed;
            allLeft += left[source];
        }
        QVERIFY(sources >= 16);
        comparePage("docs/validation-sources.md",
            QStringLiteral("| all | | | %1 | %2 | %3 |").arg(allGated).arg(allGuessed).arg(allLeft).toStdString());
    }

    /// "All 576 GPUs train twice as fast as one region alone, at three times the price of a token": of GPUs that
    /// train.
    void threeRegionsAgainstOne()
    {
        const Plan all = sample("llama-3-70b-three-regions");
        const Plan one = sample("llama-3-70b-three-regions",
            { { "placement", R"({"mode":"pipeline-across","stages":[{"datacenter":"virginia","stages":9}]})" } });
        const EvaluationPtr together = evaluated(all), alone = evaluated(one);
        QCOMPARE(together->metrics.gpusUsed, 576);
        const double faster = *alone->metrics.iterationTime / *together->metrics.iterationTime;
        const auto dollars = [](const Evaluation &e) {
            return *e.metrics.cost.usdPerIteration
                * (e.metrics.wanBytesPerIteration > 0 ? 1 : double(e.metrics.gpusUsed) / e.metrics.gpusTotal);
        };
        const double dearer = dollars(*together) / dollars(*alone);
        QVERIFY2(std::abs(faster - 2) < 0.1, qPrintable(QString::number(faster)));
        QVERIFY2(dearer > 2.8 && dearer < 3.2, qPrintable(QString::number(dearer)));
        comparePage("docs/across-datacenters.md",
            "all 576 GPUs train twice as fast as one region alone, at three times the price of a token");
    }

    void whatTheSampleOfManyModelsComesTo()
    {
        const auto plan = std::make_shared<const Plan>(sample("hydra-lab"));
        EvaluationWorkspace workspace;
        RunCache cache;
        const RunContext context { builtinCatalogue(), workspace, {}, nullptr, &cache };
        const auto own = run(plan, Depth::Score, context);
        QVERIFY(own);
        const JobMetrics &jobs = *(*own)->metrics.jobs;
        const auto times = [](const Metric &base, const Metric &now) { return plainText(*base / *now) + " ×"; };
        const auto makespan = [&](JobScheduler scheduler) {
            for (const JobVariant &variant : jobSchedulers(plan, context, false))
                if (variant.plan->jobScheduler == scheduler)
                    return variant.makespan();
            return Metric();
        };
        const auto ablation = jobAblation(plan, context), scaling = jobScaling(plan, context),
                   more = jobsWithOneMoreGpu(plan, context);
        const SpeedupLimits limits = speedupLimits(**own);
        const auto row = [](const std::string &name, const std::string &computed, const std::string &limit) {
            comparePage("docs/many-models.md", "| " + name + " | " + computed + " | " + limit + " |");
        };
        row("all jobs done after", durationText(*jobs.makespan), "bound " + durationText(*jobs.bound));
        row("over model parallelism", times(makespan(JobScheduler::ModelParallel), jobs.makespan),
            "min(G, n) = " + wholeText(limits.overModelParallel) + " ×");
        row("over the best pipeline", times(makespan(JobScheduler::Pipeline), jobs.makespan),
            "(M + K − 1) / M = " + plainText(limits.overPipeline) + " ×");
        row("SHARP over spilling alone", times(ablation[0].makespan(), ablation[1].makespan()), "8 ×");
        row("double buffers", times(ablation[1].makespan(), ablation[2].makespan()), "");
        row("8 GPUs over one", times(scaling.front().makespan(), scaling.back().makespan()), "8 ×");
        row("a ninth GPU", changeText(*jobs.makespan, *more.front().makespan()) + " of the time", changeText(9, 8));
    }

    void drivesOfTheOffloadSampleAgainstItsTraining()
    {
        const EvaluationPtr evaluation = evaluated(sample("gpt3-offload-a100-40gb"));
        const double life = *evaluation->metrics.offload->ssdLifetimeYears * 365.25,
                     training = *evaluation->metrics.cost.daysTotal;
        const char *kSets[] = { "less than one set", "more than one set", "more than two sets", "more than three sets",
            "more than four sets" };
        comparePage("docs/when-memory-is-the-limit.md",
            "the drives last " + std::to_string(std::lround(life)) + " days and the training takes "
                + std::to_string(std::lround(training)) + ": it would need "
                + kSets[std::min(4, int(training / life))]);
        const Plan recompute = sample(
            "gpt3-offload-a100-40gb", { { "memory.activation_offload", "none" }, { "memory.recompute", "full" } });
        const double longer =
            iterationOf(recompute) / *evaluation->metrics.iterationTime - 1; // "about a third longer", says the sample
        QVERIFY2(longer > 0.28 && longer < 0.38, qPrintable(QString::number(longer)));
        QVERIFY(evaluation->plan->notes.find("about a third longer") != std::string::npos);
    }

    /// A list scheduler lays another order for other times. Stages pinned, so that it is the schedule alone that
    /// changes.
    void listSchedulersOnFasterLinks()
    {
        const char *kRates[] = { "5", "10", "20", "40", "80", "160", "320", "800" };
        int steps = 0, longer = 0;
        std::pair<double, const char *> worst { 0, "" };
        for (const auto &[schedule, name] : { std::pair { "zb-v", "ZB-V" }, { "zb-auto", "ZB automatic" },
                 { "v-half", "V-Half" }, { "v-min", "V-Min" } }) {
            double before = 0;
            for (const char *rate : kRates) {
                Plan plan = sample("llama-3-70b-three-regions", { { "schedule", schedule } });
                plan.placement = {};
                plan.placement.mode = PlacementMode::PipelineAcross;
                for (const char *site : { "virginia", "ohio", "oregon" })
                    plan.placement.stages.push_back({ site, 3, {} });
                for (WanLink &link : plan.cluster.wanLinks)
                    link.nodePairGbps = std::atof(rate);
                const double now = iterationOf(plan);
                if (before > 0) {
                    ++steps;
                    longer += now > before;
                    worst = std::max(worst, { now / before - 1, name });
                }
                before = now;
            }
        }
        comparePage("docs/model.md",
            "link lengthened the iteration in " + std::to_string(longer) + " of " + std::to_string(steps)
                + " steps, by " + percentText(worst.first) + " at most (" + worst.second + ")");
    }

    /// Pairs of the headline's sample from 14 to 15 Gbps: C falls from 1.54 to 1.43, and cells of C pipelines, rounded,
    /// from two to one. Where the order is fixed, neither cells that stay nor those that `auto` takes are slower.
    void cellsOnAFasterLink()
    {
        for (const char *schedule : { "gpipe", "1f1b", "zb-h1", "zb-h2", "hanayo" })
            for (const char *cell : { "2", "auto" }) {
                const auto at = [&](const char *gbps) {
                    return iterationOf(sample("atlas-headline",
                        { { "schedule", schedule }, { "bubble_fill.enabled", "false" }, { "wan.cell", cell },
                            { "cluster.wan_links[0].node_pair_gbps", gbps } }));
                };
                QVERIFY2(at("15") <= at("14") * (1 + 1e-6), schedule);
            }
    }
};

TRAINYARD_APPLESS_TEST(TstPages)
#include "tst_pages.moc"
