// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/theme.h"

#include <QApplication>

int main(int argc, char **argv)
{
    QApplication application(argc, argv);
    trainyard::applyTheme(application, trainyard::ThemeKind::System);
}
