/** The agents that send the load: what each has done so far, and in the latest second. */

import { figure } from "../format";
import type { AgentSoFar } from "../generated/live";
import { Scroll } from "../scroll";

export function Agents({ agents }: { agents: AgentSoFar[] }) {
  if (agents.length === 0) return null;
  return (
    <Scroll>
      <table class="agents">
        <caption class="unseen">The agents that send the load</caption>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            {["Rate now", "p50 now", "p99 now", "Own delay p99", "Answered", "No response"].map(
              (name) => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <Row key={agent.name} agent={agent} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Row({ agent }: { agent: AgentSoFar }) {
  const { name, is_silent: isSilent } = agent;
  return (
    <tr>
      <th scope="row">
        {name} {isSilent && <span class="bad">says nothing</span>}
      </th>
      <td class="number">{figure("per_second", agent.rate_per_s)}</td>
      <td class="number">{figure("us", agent.p50_us)}</td>
      <td class="number">{figure("us", agent.p99_us)}</td>
      <td class="number">{figure("us", agent.lateness_p99_us)}</td>
      <td class="number">{figure("count", agent.answered)}</td>
      <td class="number">{figure("count", agent.failed)}</td>
    </tr>
  );
}
