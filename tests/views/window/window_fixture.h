#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A whole window over a sample, with set answers in place of dialogs and settings in a folder of its own.

#include "core/facts/catalogue/catalogue.h"
#include "tests/support/until.h"
#include "views/cluster/cluster_map.h"
#include "views/panels/number_strip.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"
#include "views/window/file_actions.h"
#include "views/window/main_window.h"
#include "views/window/tour_strip.h"

#include <QApplication>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

namespace trainyard {

struct SetAnswers final : Prompts {
    QString open, save, config, picture, rows, csv, file, runFolder;
    /// answer of linePattern()
    QString pattern;
    /// of unsavedChanges()
    QString askedAbout;
    QStringList run;
    QStringList suggestions; // of files to be written, as they were asked for
    Unsaved unsaved = Unsaved::Cancel, unsavedOfRun = Unsaved::Cancel;
    Foreign foreign = Foreign::Cancel;
    int asked = 0, abouts = 0, askedOfForeign = 0, askedOfRun = 0;
    bool isDocumented = true;

    QString planToOpen(QWidget *, const QString &) override { return open; }
    QString planToSave(QWidget *, const QString &) override { return save; }
    QString configToOpen(QWidget *, const QString &) override { return config; }
    QString rowsToOpen(QWidget *, const QString &) override { return rows; }
    QStringList runToOpen(QWidget *, const QString &, const QString &) override { return run; }
    QString linePattern(QWidget *, const QString &) override { return pattern; }
    QString runFolderToOpen(QWidget *, const QString &, const QString &) override { return runFolder; }
    QString fileToSave(QWidget *, const QString &, const QString &suggestion, const QString &) override
    {
        suggestions << suggestion;
        return file;
    }
    QString csvToSave(QWidget *, const QString &) override { return csv; }
    QString pictureToSave(QWidget *, const QString &) override { return picture; }
    Unsaved unsavedChanges(QWidget *, const QString &name) override
    {
        askedAbout = name;
        ++asked;
        return unsaved;
    }
    Foreign foreignChange(QWidget *, const QString &) override
    {
        ++askedOfForeign;
        return foreign;
    }
    Unsaved unsavedRun(QWidget *) override
    {
        ++askedOfRun;
        return unsavedOfRun;
    }
    void about(QWidget *) override { ++abouts; }
    bool showDocumentation(QWidget *) override { return isDocumented; }
};

struct IsolatedSettings {
    QTemporaryDir folder;
    IsolatedSettings()
    {
        qApp->setStyleSheet({}); // the window applies it
        applyColours(*qApp, ThemeKind::Dark);
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
    }
};

class WindowFixture {
public:
    IsolatedSettings settings; // first: the others read settings as they are made
    QTemporaryDir folder;
    SetAnswers answers;
    PlanDocument document;
    EvaluationBridge bridge { builtinCatalogue() };
    StrategyEffects effects { builtinCatalogue() };
    RecentFiles recent;
    MainWindow window { { document, bridge, effects, builtinCatalogue() }, recent, answers };

    /// `stateFolder`: where unsaved work is kept; empty: nowhere.
    explicit WindowFixture(
        const QString &sample = QStringLiteral("llama-3-70b-three-regions"), const QString &stateFolder = {})
        : document(std::make_shared<const Plan>(), stateFolder)
    {
        window.resize(1440, 900);
        window.show();
        document.openAsNew(samplePath(sample));
        waitUntilOpen();
        settle();
    }
    static QString samplePath(const QString &sample)
    {
        return QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/%1.trainyard.json").arg(sample);
    }
    void waitUntilOpen()
    {
        QVERIFY(test::until([&] { return !document.plan()->cluster.datacenters.empty(); }));
    }
    /// Until what is shown is the evaluation of the plan that is shown.
    void settle()
    {
        QVERIFY(test::until([&] {
            return bridge.evaluation() && bridge.evaluation()->plan == document.shownPlan() && !bridge.isStale();
        }));
        QApplication::processEvents();
    }
    [[nodiscard]] QString numbers() { return window.workbench().strip->toTsv(); }
    [[nodiscard]] ClusterMap *map() { return window.workbench().map; }
    [[nodiscard]] QPoint nodeAt(int island, int node)
    {
        return nodeRect(map()->mapLayout(), island, 0, node).center().toPoint();
    }
    [[nodiscard]] QPoint titleOf(int island)
    {
        return map()->mapLayout().islands[std::size_t(island)].title.center().toPoint();
    }
    void moveHeld(QPoint to)
    {
        QMouseEvent event(QEvent::MouseMove, to, map()->mapToGlobal(to), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(map(), &event);
    }
};

} // namespace trainyard
