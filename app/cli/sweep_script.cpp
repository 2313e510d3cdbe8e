// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/sweep_script.h"

#include <filesystem>

namespace trainyard::cli {

namespace {

std::string absolute(const std::string &path)
{
    std::error_code failed;
    const std::filesystem::path made = std::filesystem::absolute(path, failed);
    return failed ? path : made.lexically_normal().string();
}

} // namespace

std::string slurmSweepScript(const SweepOptions &options)
{
    SweepOptions there = options;
    there.plan = absolute(options.plan);
    there.out = absolute(options.out);
    return R"(#!/usr/bin/env bash
#SBATCH --job-name=trainyard-sweep
#SBATCH --ntasks=64
#SBATCH --cpus-per-task=1
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=TERM@60
#SBATCH --output=%x-%j.log
# Rows of a sweep, one MPI rank a task; more tasks, more rows per second. Written by `trainyard-cli sweep --slurm`.
# A job that is requeued, or submitted again, goes on with the file. Options of sbatch come before those above:
#   sbatch --ntasks=256 --time=2:00:00 THIS.sh
# TRAINYARD_SWEEP: the program, where it is not in PATH. TRAINYARD_LAUNCH: what starts the ranks, where Slurm was built
# without PMIx: TRAINYARD_LAUNCH=mpirun sbatch THIS.sh
set -euo pipefail
export OMP_NUM_THREADS=1
read -r -a launch <<< "${TRAINYARD_LAUNCH:-srun --mpi=pmix --kill-on-bad-exit=1}"
exec "${launch[@]}" )"
        + resumeLine("\"${TRAINYARD_SWEEP:-trainyard-sweep}\"", there) + " --threads \"${SLURM_CPUS_PER_TASK:-1}\"\n";
}

} // namespace trainyard::cli
