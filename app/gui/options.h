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
    QStringList files; // what to open: a plan, a sweep, recordings of a run; none: the first sample
    QString screenshot; // path of a PNG; empty: show the window
    QSize size { 1440, 900 }; // of the screenshot
    bool showsValidation = false; // the validation page instead of the workbench
    bool showsExperts = false; // the comparison of exchanges with experts instead of the workbench
    bool showsJobs = false; // the comparison of schedulers of jobs instead of the workbench
    bool showsDatacenters = false; // the workbench with the ranking of datacenters in front
    bool showsMemory = false; // the workbench with all that is about memory in front
    bool showsShares = false, showsBaselines = false; // the workbench with what each set of GPUs gets, or would get
    QString report; // path of a PDF that is written in place of a window; empty: none
    bool showsLayer = false; // an expert layer, opened
    bool showsRun = false; // what was recorded beside the plan
    QStringList run, reference; // files and folders of runs to open
    QStringList live; // addresses of runs that go on
    double liveSpeed = 1; // of those that are replayed; 0: as fast as it goes
    bool showsLive = false, showsConnect = false; // the page of a run that goes on; the sheet that connects to one
    bool showsPlanner = false; // the planner; of a screenshot with a search that has ended
    QString frames; // path of a JSON file about the window's frames, written at the end; empty: none
    int seconds = 0; // after which the program ends; 0: never
    bool showsNewPlan = false; // the sheet for a new plan
    std::optional<ThemeKind> theme;
};

/// Parses the arguments after the program's name. --help, --version and --manual print and exit. The error is one line.
[[nodiscard]] std::expected<Options, QString> parseOptions(const QStringList &arguments);

} // namespace trainyard
