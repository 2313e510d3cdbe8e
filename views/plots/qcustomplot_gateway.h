#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The one place that includes QCustomPlot: its header costs seconds in every file that sees it.

#include <qcustomplot.h>
