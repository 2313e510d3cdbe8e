// SPDX-License-Identifier: GPL-3.0-or-later
// Going to a field of the workload by its key, and to a model in its list.
#include "views/panels/workload_editor.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>

#include <algorithm>
#include <array>

namespace trainyard {

const std::vector<std::string> &WorkloadEditor::keys()
{
    static const std::vector<std::string> paths { "workload.model", "workload.sequence_length", "workload.global_batch",
        "workload.micro_batch", "workload.precision", "workload.optimizer", "workload.training_tokens" };
    return paths;
}

bool WorkloadEditor::goToKey(const std::string &path)
{
    const std::array<QWidget *, 7> fields { m_model, m_sequence, m_globalBatch, m_microBatch, m_precision, m_optimizer,
        m_tokens };
    const auto at = std::size_t(std::ranges::find(keys(), path) - keys().begin());
    if (at >= fields.size() || !fields[at]->isEnabled())
        return false;
    fields[at]->setFocus(Qt::ShortcutFocusReason);
    return true;
}

bool WorkloadEditor::offerModel(const QString &id)
{
    const int row = m_model->findData(id);
    if (row < 0 || !goToKey("workload.model"))
        return false;
    m_model->showPopup();
    m_model->view()->setCurrentIndex(m_model->model()->index(row, m_model->modelColumn(), m_model->rootModelIndex()));
    return true;
}

} // namespace trainyard
