#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which GPUs alone may run a job: by their numbers, or by a press on each, node by node. None: any. GUI thread.

#include "models/gpu_numbers.h"
#include "views/panels/job_sheet.h"

#include <vector>

class QLineEdit;
class QToolButton;

namespace trainyard {

class JobPinSheet : public JobSheet {
    Q_OBJECT
public:
    /// `name`: of what is pinned, "gpt, batch 16" or "3 jobs".
    JobPinSheet(const Plan &plan, const QString &name, const std::vector<int> &pinned, QWidget *window);

    void openBeside(const QWidget *anchor);
    [[nodiscard]] const std::vector<int> &gpus() const { return m_gpus; }
    [[nodiscard]] QLineEdit *field() const { return m_field; }
    [[nodiscard]] const std::vector<QToolButton *> &buttons() const { return m_buttons; } // of GPU 0, 1 …

private:
    [[nodiscard]] QWidget *nodes(const std::vector<NodeGpus> &all);
    void read();
    void press();

    int m_count;
    std::vector<int> m_gpus;
    QLineEdit *m_field;
    std::vector<QToolButton *> m_buttons;
};

} // namespace trainyard
