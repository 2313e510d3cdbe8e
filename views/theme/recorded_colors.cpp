// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/theme/recorded_colors.h"

#include "views/theme/theme.h"

namespace trainyard {

QColor recordedColor(RecordedWork work)
{
    const bool isDark = theme().isDark;
    switch (work) {
    case RecordedWork::Compute:
        return isDark ? QColor(0x5f8fb4) : QColor(0x4f84ad);
    case RecordedWork::Communication:
        return isDark ? QColor(0xa986b8) : QColor(0x9c76ad);
    case RecordedWork::Copy:
        return isDark ? QColor(0x928a58) : QColor(0x9d9140);
    case RecordedWork::Wait:
        return isDark ? QColor(0x555e6a) : QColor(0xb9c1cb);
    case RecordedWork::HostCall:
    case RecordedWork::HostOperator:
    case RecordedWork::Annotation:
    case RecordedWork::Other:
        break;
    }
    return isDark ? QColor(0x75808d) : QColor(0x8d97a4);
}

QColor recordedIdle()
{
    return theme().isDark ? QColor(0x12151a) : QColor(0xe9edf2);
}

} // namespace trainyard
