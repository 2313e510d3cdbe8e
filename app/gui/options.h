#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the command line of the desktop application asks for.

#include "views/theme/theme.h"

#include <QSize>
#include <QString>
#include <QStringList>

#include <expected>
#include <optional>

namespace trainyard {

struct Options {
    /// what to open: a plan, a sweep, recordings of a run; none: the first sample
    QStringList files;
    /// path of a PNG; empty: show the window
    QString screenshot;
    /// of the screenshot
    QSize size { 1440, 900 };
    /// the validation page instead of the workbench
    bool showsValidation = false;
    /// the comparison of exchanges with experts instead of the workbench
    bool showsExperts = false;
    /// the board of a session
    bool showsBoard = false;
    /// two of its variants beside each other
    bool showsComparison = false;
    /// the comparison of schedulers of jobs instead of the workbench
    bool showsJobs = false;
    /// the workbench with the ranking of datacenters in front
    bool showsDatacenters = false;
    /// the workbench with all that is about memory in front
    bool showsMemory = false;
    /// the workbench with what each set of GPUs gets, or would get
    bool showsShares = false, showsBaselines = false;
    /// path of a PDF that is written in place of a window; empty: none
    QString report;
    /// an expert layer, opened
    bool showsLayer = false;
    /// what was recorded beside the plan
    bool showsRun = false;
    /// files and folders of runs to open
    QStringList run, reference;
    /// addresses of runs that go on
    QStringList live;
    /// a file of alarm rules and who is notified, and the log of alarms; empty: as usual, and none
    QString alarms, alarmLog;
    bool allowsWebhooksAnywhere = false;
    /// of those that are replayed; 0: as fast as it goes
    double liveSpeed = 1;
    /// the page of a run that goes on; the sheet that connects to one
    bool showsLive = false, showsConnect = false;
    /// the planner; of a screenshot with a search that has ended
    bool showsPlanner = false;
    /// path of a JSON file about the window's frames, written at the end; empty: none
    QString frames;
    /// after which the program ends; 0: never
    int seconds = 0;
    /// the sheet for a new plan
    bool showsNewPlan = false;
    std::optional<ThemeKind> theme;
};

/// Parses the arguments after the program's name. --help, --version and --manual print and exit. The error is one line.
[[nodiscard]] std::expected<Options, QString> parseOptions(const QStringList &arguments);

} // namespace trainyard
