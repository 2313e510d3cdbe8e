// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/options.h"

#include "models/live_document.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>

namespace trainyard {

namespace {

QString optionText(const char *text)
{
    return QCoreApplication::translate("Options", text);
}

constexpr int kLongestSide = 8192; // a picture of that square takes 256 MiB
constexpr int kFastest = 100'000, kLongestSeconds = 7 * 86'400;

QString sentenceOf(const Error &error)
{
    QString text = QString::fromStdString(error.what);
    if (!error.right.empty())
        text += optionText("; expected %1").arg(QString::fromStdString(error.right));
    return text;
}

std::optional<QSize> parseSize(const QString &text)
{
    static const QRegularExpression pattern(QStringLiteral("^(\\d{2,5})x(\\d{2,5})$"));
    const auto match = pattern.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    const QSize size(match.captured(1).toInt(), match.captured(2).toInt());
    return std::max(size.width(), size.height()) <= kLongestSide ? std::optional(size) : std::nullopt;
}

std::optional<ThemeKind> parseTheme(const QString &name)
{
    if (name == QStringLiteral("light"))
        return ThemeKind::Light;
    if (name == QStringLiteral("dark"))
        return ThemeKind::Dark;
    if (name == QStringLiteral("high-contrast"))
        return ThemeKind::HighContrast;
    if (name == QStringLiteral("system"))
        return ThemeKind::System;
    return std::nullopt;
}

} // namespace

std::expected<Options, QString> parseOptions(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        optionText("Plans the training of large models on clusters that span datacenters."));
    parser.addHelpOption();
    parser.addVersionOption();
    const QCommandLineOption screenshot(QStringLiteral("screenshot"),
        optionText("Render the main window into a PNG file and exit."), QStringLiteral("OUT.png"));
    const QCommandLineOption size(QStringLiteral("size"), optionText("Size of the screenshot, 1440x900 unless told."),
        QStringLiteral("WIDTHxHEIGHT"));
    const QCommandLineOption theme(
        QStringLiteral("theme"), optionText("system, light, dark or high-contrast."), QStringLiteral("NAME"));
    const QCommandLineOption page(QStringLiteral("page"),
        optionText(
            "What to show: plan, datacenters (the plan, with their ranking in front), memory (the plan, with what "
            "fills "
            "its GPUs and what to do about it), shares or baselines (the plan, with what each set of GPUs gets, or "
            "would get from other systems), experts (exchanges with experts compared), jobs "
            "(schedulers of jobs compared), layer (an expert layer, opened), run (a recorded run beside the plan: "
            "--run), live (a run that goes on: --live), connect (the sheet that connects to one), planner (which "
            "searches for a better plan; in a screenshot it has, with --frames it does), "
            "validation, or new "
            "(the sheet for a new plan)."),
        QStringLiteral("NAME"), QStringLiteral("plan"));
    const QCommandLineOption report(
        QStringLiteral("report"), optionText("Write the plan's report as PDF to --out and exit."));
    const QCommandLineOption out(QStringLiteral("out"), optionText("File of the report."), QStringLiteral("OUT.pdf"));
    const QCommandLineOption run(QStringLiteral("run"),
        optionText("A file or folder that a real run left behind, to be laid under the plan; several: once each."),
        QStringLiteral("PATH"));
    const QCommandLineOption reference(QStringLiteral("compare-run"),
        optionText("A file or folder of another run, which is compared with in place of the plan; several: once each."),
        QStringLiteral("PATH"));
    const QCommandLineOption live(QStringLiteral("live"),
        optionText(
            "Where a run that goes on tells of itself: http://HOST:9090, listen:4318, tcp://HOST:PORT, tail:FILE, "
            "command:COMMAND or replay:RECORDING; several: once each."),
        QStringLiteral("ADDRESS"));
    const QCommandLineOption liveSpeed(QStringLiteral("live-speed"),
        optionText("How many times as fast recordings are replayed; 0: as fast as it goes, as for a screenshot."),
        QStringLiteral("FACTOR"));
    const QCommandLineOption frames(QStringLiteral("frames"),
        optionText("Measure how long the window was busy at a time, and write it with its memory when it ends."),
        QStringLiteral("OUT.json"));
    const QCommandLineOption seconds(
        QStringLiteral("seconds"), optionText("End after so long, for measurements."), QStringLiteral("SECONDS"));
    parser.addOptions({ screenshot, size, theme, page, report, out, run, reference, live, liveSpeed, frames, seconds });
    parser.addPositionalArgument(QStringLiteral("PLAN"), optionText("Plan file to open; the first sample unless told."),
        QStringLiteral("[PLAN]"));
    if (!parser.parse(QStringList { QCoreApplication::applicationFilePath() } + arguments))
        return std::unexpected(parser.errorText());
    if (parser.isSet(QStringLiteral("help")))
        parser.showHelp();
    if (parser.isSet(QStringLiteral("version")))
        parser.showVersion();

    Options options;
    if (parser.positionalArguments().size() > 1)
        return std::unexpected(optionText("one plan at a time: %1").arg(parser.positionalArguments().join(u' ')));
    options.plan = parser.positionalArguments().value(0);
    options.screenshot = parser.value(screenshot);
    options.report = parser.value(out);
    if (parser.isSet(report) != parser.isSet(out) || (parser.isSet(report) && options.plan.isEmpty()))
        return std::unexpected(optionText("--report needs a plan and --out OUT.pdf"));
    if (parser.isSet(size)) {
        const auto parsed = parseSize(parser.value(size));
        if (!parsed)
            return std::unexpected(optionText("--size %1: expected WIDTHxHEIGHT such as 1440x900, each from 10 to %2")
                                       .arg(parser.value(size))
                                       .arg(kLongestSide));
        options.size = *parsed;
    }
    options.showsValidation = parser.value(page) == QStringLiteral("validation");
    options.showsDatacenters = parser.value(page) == QStringLiteral("datacenters");
    options.showsMemory = parser.value(page) == QStringLiteral("memory");
    options.showsNewPlan = parser.value(page) == QStringLiteral("new");
    options.showsShares = parser.value(page) == QStringLiteral("shares");
    options.showsBaselines = parser.value(page) == QStringLiteral("baselines");
    options.showsExperts = parser.value(page) == QStringLiteral("experts");
    options.showsJobs = parser.value(page) == QStringLiteral("jobs");
    options.showsLayer = parser.value(page) == QStringLiteral("layer");
    options.showsRun = parser.value(page) == QStringLiteral("run");
    options.run = parser.values(run);
    options.reference = parser.values(reference);
    options.showsLive = parser.value(page) == QStringLiteral("live");
    options.showsPlanner = parser.value(page) == QStringLiteral("planner");
    options.showsConnect = parser.value(page) == QStringLiteral("connect");
    options.live = parser.values(live);
    for (const QString &address : options.live)
        if (const auto parsed = live::parseAddress(address.toStdString()); !parsed)
            return std::unexpected(optionText("--live %1: %2").arg(address, sentenceOf(parsed.error())));
    bool isNumber = true;
    options.liveSpeed = parser.isSet(liveSpeed) ? parser.value(liveSpeed).toDouble(&isNumber)
        : options.screenshot.isEmpty()          ? 1
                                                : 0;
    if (!isNumber || !(options.liveSpeed >= 0) || options.liveSpeed > kFastest)
        return std::unexpected(
            optionText("--live-speed %1: expected a number from 0 to %2").arg(parser.value(liveSpeed)).arg(kFastest));
    options.frames = parser.value(frames);
    if (parser.isSet(seconds))
        options.seconds = parser.value(seconds).toInt(&isNumber);
    if (!isNumber || options.seconds < 0 || options.seconds > kLongestSeconds)
        return std::unexpected(optionText("--seconds %1: expected a whole number from 1 to %2")
                                   .arg(parser.value(seconds))
                                   .arg(kLongestSeconds));
    if (!options.showsValidation && !options.showsDatacenters && !options.showsMemory && !options.showsNewPlan
        && !options.showsShares && !options.showsBaselines && !options.showsExperts && !options.showsJobs
        && !options.showsLayer && !options.showsRun && !options.showsLive && !options.showsConnect
        && !options.showsPlanner && parser.value(page) != QStringLiteral("plan"))
        return std::unexpected(
            optionText("--page %1: expected plan, datacenters, memory, shares, baselines, experts, jobs, "
                       "layer, run, live, connect, planner, validation or "
                       "new")
                .arg(parser.value(page)));
    if (parser.isSet(theme)) {
        options.theme = parseTheme(parser.value(theme));
        if (!options.theme)
            return std::unexpected(
                optionText("--theme %1: expected system, light, dark or high-contrast").arg(parser.value(theme)));
    }
    return options;
}

} // namespace trainyard
