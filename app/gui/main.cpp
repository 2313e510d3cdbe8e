// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/dialogs.h"
#include "app/gui/options.h"
#include "app/gui/screenshot.h"
#include "core/catalogue/catalogue.h"
#include "models/sample_plans.h"
#include "views/theme/theme.h"
#include "views/window/file_actions.h"
#include "views/window/main_window.h"
#include "views/window/tour_strip.h"

#include <QApplication>
#include <QDir>
#include <QIcon>
#include <QStandardPaths>

#include <cstdio>

namespace trainyard {

namespace {

QString stateFolder()
{
    return QDir(QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation)).filePath(QStringLiteral("recovery"));
}

int run(QApplication &application, const Options &options)
{
    const bool isPicture = !options.screenshot.isEmpty();
    const Catalogue &catalogue = builtinCatalogue();
    PlanDocument document(std::make_shared<const Plan>(), isPicture ? QString() : stateFolder());
    EvaluationBridge bridge(catalogue);
    StrategyEffects effects(catalogue);
    RecentFiles recent;
    Dialogs dialogs;

    const ThemeKind wanted = isPicture ? ThemeKind::Dark : MainWindow::rememberedTheme();
    applyTheme(application, options.theme.value_or(wanted));
    MainWindow window({document, bridge, effects, catalogue}, recent, dialogs);
    if (isPicture) {
        window.setMinimumSize(0, 0);
        window.resize(options.size);
        new Screenshot(window, options.screenshot, options.size);
    } else {
        window.restorePlaces();
        window.files().offerRecovery();
        if (!TourStrip::wasDismissed())
            window.tour().start();
    }
    if (options.plan.isEmpty())
        document.openAsNew(samplePath(kFirstSample));
    else
        document.open(options.plan);
    window.show();
    return QApplication::exec();
}

} // namespace

} // namespace trainyard

int main(int argc, char **argv)
{
    // A picture needs no display.
    for (int i = 1; i < argc; ++i) {
        if (qstrncmp(argv[i], "--screenshot", 12) == 0 && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM"))
            qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    QApplication application(argc, argv);
    QCoreApplication::setApplicationName(QStringLiteral("trainyard"));
    QCoreApplication::setOrganizationName(QStringLiteral("trainyard"));
    QCoreApplication::setApplicationVersion(QStringLiteral(TRAINYARD_VERSION));
    QGuiApplication::setApplicationDisplayName(QStringLiteral("Trainyard"));
    QGuiApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/trainyard.svg")));
    const auto options = trainyard::parseOptions(QCoreApplication::arguments().mid(1));
    if (!options) {
        std::fprintf(stderr, "trainyard: %s\n", qPrintable(options.error()));
        return 2;
    }
    return trainyard::run(application, *options);
}
