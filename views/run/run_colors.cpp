// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/run_colors.h"

#include "views/theme/job_colors.h"

namespace trainyard {

QColor runColor(int number)
{
    return jobColor(number + kJobColors / 2); // those of variants begin at 0
}

} // namespace trainyard
