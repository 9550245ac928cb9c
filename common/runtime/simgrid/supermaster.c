/* The module of the supermaster. */
#include "common/runtime/simgrid/module.h"
#include "common/runtime/simgrid/rank.h"

void simulated_rank(struct simulated_run *run, unsigned rank)
{
    const struct effects effects = {
        .store = simulated_store,
        .calculation_ns = run->calculation_ns,
        .assignment_ns = run->assignment_ns,
    };
    struct error error;
    if (supermaster_init(run->supermaster, &run->supermaster_config, &error) < 0) {
        simulated_give_up(run, rank, error.text);
        return;
    }
    run->supermaster_is_there = true;
    const struct machine machine = supermaster_machine(run->supermaster);
    run->status = simulated_drive(run, rank, &machine, &effects);
    run->is_over = true;
}
