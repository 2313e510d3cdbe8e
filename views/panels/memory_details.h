#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What fills the GPU of one stage, largest part first, against what it holds. GUI thread.

#include "core/evaluate/evaluation.h"

#include <QWidget>

class QComboBox;

namespace trainyard {

class MemoryParts;

class MemoryDetails : public QWidget {
    Q_OBJECT
public:
    explicit MemoryDetails(QWidget *parent = nullptr);

    void setEvaluation(EvaluationPtr evaluation);
    void setStage(int stage);              // -1: the fullest

private:
    void refresh();

    EvaluationPtr m_evaluation;
    int m_stage = -1;
    QComboBox *m_stages;
    MemoryParts *m_parts;
};

} // namespace trainyard
