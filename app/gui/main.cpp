// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/about/build_info.h"
#include "app/gui/dialogs.h"
#include "app/gui/frame_probe.h"
#include "app/gui/options.h"
#include "app/gui/platform_messages.h"
#include "app/gui/report.h"
#include "app/gui/screenshot.h"
#include "core/base/output_file.h"
#include "core/base/printable.h"
#include "core/facts/catalogue/catalogue.h"
#include "views/layer/layer_page.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/parts/message_bar.h"
#include "views/theme/theme.h"
#include "views/window/file_actions.h"
#include "views/window/main_window.h"
#include "views/window/tour_strip.h"

#include <QApplication>
#include <QDir>
#include <QIcon>
#include <QStandardPaths>
#include <QTimer>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>

namespace trainyard {

namespace {

QString stateFolder()
{
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation))
        .filePath(QStringLiteral("recovery"));
}

/// One after the other, since reading is one at a time.
void openRuns(RunDocument &runs, const QStringList &run, const QStringList &reference)
{
    if (!reference.isEmpty())
        QObject::connect(
            &runs, &RunDocument::runChanged, &runs, [&runs, reference] { runs.openReference(reference); },
            Qt::SingleShotConnection);
    runs.open(run);
}

/// Errors of an address have been told with the options; what is wrong with settings is said in the window.
void connectLive(MainWindow &window, const Options &options)
{
    for (const QString &address : options.live)
        if (const auto done = window.live().connectTo(address, { .replaySpeed = options.liveSpeed }); !done)
            window.messages().show({ QStringLiteral("live"), Message::Tone::Error,
                QCoreApplication::translate("Main", "“%1” cannot be connected to.").arg(address),
                QString::fromStdString(toString(done.error())), {} });
}

/// What is wrong with the file or the log is said in the window, and alarms are as usual.
void setAlarms(MainWindow &window, const Options &options)
{
    if (options.alarms.isEmpty() && options.alarmLog.isEmpty())
        return;
    LiveAlarmOptions asked { .file = options.alarms.toStdString(),
        .logPath = options.alarmLog.toStdString(),
        .allowsWebhooksAnywhere = options.allowsWebhooksAnywhere };
    Errors faults;
    if (!options.alarms.isEmpty()) {
        auto read = desk::readAlarmSetup(asked.file);
        if (read)
            asked.setup = std::move(*read);
        else
            faults = read.error();
    }
    if (faults.empty())
        if (const auto set = window.live().setAlarmOptions(asked); !set)
            faults = set.error();
    if (faults.empty())
        return;
    QStringList lines;
    for (const Error &fault : faults)
        lines << QString::fromStdString(toString(fault));
    window.messages().show({ QStringLiteral("live"), Message::Tone::Error,
        QCoreApplication::translate("Main", "Alarms are as usual, and nobody is notified."), lines.join(u'\n'), {} });
}

int runWindow(QApplication &application, const Options &options)
{
    const bool isPicture = !options.screenshot.isEmpty();
    const Catalogue &catalogue = builtinCatalogue();
    PlanDocument document(std::make_shared<const Plan>(), isPicture ? QString() : stateFolder());
    EvaluationBridge bridge(catalogue);
    StrategyEffects effects(catalogue);
    RecentFiles recent(isPicture ? RecentFiles::Storage::None : RecentFiles::Storage::Settings);
    Dialogs dialogs;

    const ThemeKind wanted = isPicture ? ThemeKind::Dark : MainWindow::rememberedTheme();
    applyColours(application, options.theme.value_or(wanted));
    MainWindow window({ document, bridge, effects, catalogue }, recent, dialogs);
    if (isPicture) {
        window.setMinimumSize(0, 0);
        window.resize(options.size);
        auto *screenshot = new Screenshot(window, options.screenshot, options.size,
            options.showsValidation    ? Screenshot::Page::Validation
                : options.showsExperts ? Screenshot::Page::Experts
                : options.showsJobs    ? Screenshot::Page::Jobs
                : options.showsRun     ? Screenshot::Page::Run
                : options.showsLive    ? Screenshot::Page::Live
                : options.showsPlanner ? Screenshot::Page::Planner
                                       : Screenshot::Page::Workbench);
        if (!options.run.isEmpty())
            screenshot->awaitRun(!options.reference.isEmpty());
        if (!options.live.isEmpty())
            screenshot->awaitLive(options.showsLive);
    } else {
        window.restorePlaces();
        window.files().offerRecovery();
        if (!TourStrip::wasDismissed())
            window.tour().start();
    }
    window.files().openAtStart(options.files);
    window.show();
    if (options.showsMemory)
        window.workbench().showMemory();
    if (options.showsShares)
        window.workbench().reveal(window.workbench().shares);
    if (options.showsBaselines)
        window.workbench().showBaselines();
    if (options.showsDatacenters)
        window.workbench().reveal(window.workbench().datacenters);
    if (options.showsValidation) {
        // Opening a plan brings the workbench; the page that was asked for comes after it.
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showValidation(); },
            Qt::SingleShotConnection);
    }
    if (options.showsExperts)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showExperts(); }, Qt::SingleShotConnection);
    if (options.showsJobs)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showJobs(); }, Qt::SingleShotConnection);
    if (options.showsLayer)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showLayer(LayerPass::Pair); },
            Qt::SingleShotConnection);
    if (options.showsRun)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showRun(); }, Qt::SingleShotConnection);
    if (!options.run.isEmpty())
        openRuns(window.runs(), options.run, options.reference);
    if (options.showsLive)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showLive(); }, Qt::SingleShotConnection);
    if (options.showsBoard)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showBoard(); }, Qt::SingleShotConnection);
    if (options.showsComparison) // once the session has all its variants
        QObject::connect(
            &window.session(), &SessionDocument::opened, &window,
            [&window] { window.commands().trigger(QStringLiteral("view.comparison")); }, Qt::SingleShotConnection);
    if (options.showsPlanner)
        QObject::connect(
            &document, &PlanDocument::replaced, &window,
            [&window, isMeasured = !options.frames.isEmpty()] {
                window.showPlanner();
                if (isMeasured) // how smooth the window is while it searches
                    window.commands().trigger("planner.search");
            },
            Qt::SingleShotConnection);
    if (options.showsConnect)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showConnect(); }, Qt::SingleShotConnection);
    setAlarms(window, options);
    if (!options.live.isEmpty()) { // once the plan is evaluated, so that every step is laid under it
        auto *once = new QObject(&window);
        const auto start = [&window, &options, once] {
            once->deleteLater();
            QObject::disconnect(&window.bridge(), nullptr, once, nullptr);
            connectLive(window, options);
        };
        QObject::connect(&bridge, &EvaluationBridge::evaluationFinished, once, start);
        QObject::connect(&bridge, &EvaluationBridge::evaluationFailed, once, start);
    }
    std::optional<FrameProbe> probe;
    if (!options.frames.isEmpty())
        probe.emplace(window.live(), *window.workbench().timeline, options.frames);
    if (options.seconds > 0)
        QTimer::singleShot(std::chrono::seconds(options.seconds), &application, &QCoreApplication::quit);
    if (options.showsNewPlan)
        QObject::connect(
            &document, &PlanDocument::replaced, &window, [&window] { window.showNewPlan(); }, Qt::SingleShotConnection);
    return QApplication::exec();
}

} // namespace

} // namespace trainyard

namespace {

void nameApplication()
{
    QCoreApplication::setApplicationName(QStringLiteral("trainyard"));
    QCoreApplication::setOrganizationName(QStringLiteral("trainyard"));
    QCoreApplication::setApplicationVersion(QLatin1String(trainyard::about::buildInfo().version));
}

std::expected<trainyard::Options, QString> parseWithoutDisplay(int argc, char **argv)
{
    const QCoreApplication plain(argc, argv);
    return trainyard::parseOptions(QCoreApplication::arguments().mid(1));
}

// "-platform", "-style" and the like, which QApplication takes out of the arguments; ours have two dashes or one
// letter.
bool hasToolkitOptions(int argc, char **argv)
{
    return std::any_of(
        argv + 1, argv + argc, [](const char *text) { return text[0] == '-' && text[1] != '-' && qstrlen(text) > 2; });
}

// A save that is under way when the desktop ends leaves nothing half written; the program then ends as it would have.
void cleanUpOnSignals()
{
    for (const int number : { SIGINT, SIGTERM, SIGHUP }) {
        const auto before = std::signal(number, [](int received) {
            trainyard::removeUnfinishedOutputs();
            std::signal(received, SIG_DFL);
            std::raise(received);
        });
        if (before == SIG_IGN) // nohup
            std::signal(number, SIG_IGN);
    }
}

} // namespace

int main(int argc, char **argv)
{
    nameApplication();
    cleanUpOnSignals();
    // Help, a picture and what is wrong with the options need no display.
    auto options = parseWithoutDisplay(argc, argv);
    if (options && (!options->screenshot.isEmpty() || !options->report.isEmpty())
        && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const bool isForToolkit = !options && hasToolkitOptions(argc, argv);
    if (!options && !isForToolkit) {
        std::fprintf(stderr, "trainyard: %s\n", trainyard::printable(options.error().toStdString()).c_str());
        return 2;
    }
    const trainyard::PlatformMessages messages;
    QApplication application(argc, argv);
    trainyard::PlatformMessages::platformIsThere();
    QGuiApplication::setDesktopFileName(QStringLiteral("trainyard")); // whose icon a desktop shows
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Trainyard"));
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/trainyard.svg")));
    if (isForToolkit)
        options = trainyard::parseOptions(QCoreApplication::arguments().mid(1));
    if (!options) {
        std::fprintf(stderr, "trainyard: %s\n", trainyard::printable(options.error().toStdString()).c_str());
        return 2;
    }
    if (!options->report.isEmpty())
        return trainyard::writeReport(options->files.front(), options->report);
    return trainyard::runWindow(application, *options);
}
