# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A real Slurm of a test's own: controller, node daemons with names of their own and munge, all on
# this machine and in the test's directory. It ends with the test.
#
#   cluster_start NODES [LINE…]   starts nodes node1, node2, …; LINEs are added to slurm.conf
#   cluster_node NAME             starts the daemon of one node (again)
#   cluster_kill_node NAME        kills it, and what it runs
#
# The daemons are children, and die with the shell.
no_slurm() {
    local program
    if [ "$(id -u)" != 0 ]; then
        echo "its daemons are started by root"
        return
    fi
    for program in munged slurmctld slurmd sbatch squeue; do
        command -v "$program" >/dev/null || PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || {
            echo "$program is not installed"
            return
        }
    done
}

# The port of the controller; nodes have those that follow.
cluster_port() {
    local port
    for port in $(seq $((20000 + $$ % 300 * 100)) 100 50000); do
        (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port" && return; }
    done
}
cluster_child() { # LOG COMMAND…
    local log=$1
    shift
    setpriv --pdeathsig KILL "$@" >"$log" 2>&1 </dev/null &
    # shellcheck disable=SC2034 # tests and benchmarks use it
    cluster_pid=$!
}
cluster_start() { # NODES [LINE…]
    local nodes=$1 host port i line
    shift
    PATH=$PATH:/usr/sbin
    host=$(hostname -s)
    port=$(cluster_port)
    cluster=$PWD/cluster
    mkdir -p "$cluster"/{state,spool,munge,log}
    chmod 700 "$cluster/munge"
    head -c 1024 /dev/urandom >"$cluster/munge/key"
    chmod 600 "$cluster/munge/key"
    cat >"$cluster/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
SlurmUser=root
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n.pid
SlurmctldLogFile=$cluster/log/slurmctld
SlurmdLogFile=$cluster/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=0,sched_interval=2,bf_interval=1,batch_sched_delay=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
SlurmdTimeout=10
KillWait=1
CONF
    for line; do
        echo "$line" >>"$cluster/slurm.conf"
    done
    for ((i = 1; i <= nodes; i++)); do
        echo "NodeName=node$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=1 RealMemory=100" \
            >>"$cluster/slurm.conf"
    done
    echo "PartitionName=all Nodes=node[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >>"$cluster/slurm.conf"
    export SLURM_CONF=$cluster/slurm.conf
    cluster_child "$cluster/log/munged" munged --foreground --force --key-file="$cluster/munge/key" \
        --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" \
        --seed-file="$cluster/munge/seed"
    cluster_wait test -S "$cluster/munge/socket"
    cluster_child "$cluster/log/controller" slurmctld -D -c -f "$cluster/slurm.conf"
    for ((i = 1; i <= nodes; i++)); do
        cluster_node "node$i"
    done
    cluster_wait cluster_has "$nodes"
}
declare -A cluster_nodes
cluster_node() { # NAME
    cluster_child "$cluster/log/$1-said" slurmd -D -f "$cluster/slurm.conf" -N "$1"
    cluster_nodes[$1]=$cluster_pid
}
cluster_kill_node() { # NAME
    local pids
    # What it runs is told by the variable that Slurm gives to all of it.
    pids=$( (grep -lszx "SLURMD_NODENAME=$1" /proc/[0-9]*/environ || true) |
        xargs -r grep -lszxF "SLURM_CONF=$cluster/slurm.conf" | sed 's,[^0-9]*\([0-9]*\).*,\1,' || true)
    kill -KILL "${cluster_nodes[$1]}"
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null || true
}
cluster_has() { # NODES
    [ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = "$1" ]
}
# A machine on which Slurm's daemons do not come up cannot run the test.
cluster_wait() { # COMMAND…
    local try
    for ((try = 0; try < 300; try++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    skip "Slurm's daemons do not come up here: $(tail -qn 1 "$cluster"/log/* | tr '\n' ' ')"
}
