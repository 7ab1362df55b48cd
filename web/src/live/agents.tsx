/** The agents that send the load: what each has done so far, and in the latest second. */

import { useEffect, useState } from "preact/hooks";
import { count, figure } from "../format";
import type { AgentSoFar, Figures } from "../generated/live";
import { Scroll } from "../scroll";
import { awaited } from "./calls";

/** The time between two looks at all of many agents, in milliseconds. */
const LOOK = 5_000;

export function Agents({ figures }: { figures: Figures }) {
  const { agents: listed, agents_total: total } = figures;
  const [isWhole, setWhole] = useState(false);
  const all = useAll(isWhole && total > listed.length);
  if (listed.length === 0) return null;
  const agents = all ?? listed;
  return (
    <>
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
      {total > listed.length && (
        <p class="hint">
          {all === null
            ? `${count(listed.length)} of ${count(total)} agents are shown, all silent ones too.`
            : `All ${count(total)} agents, looked at every 5 s.`}{" "}
          Of so many, each one's responses alone are known.{" "}
          <button type="button" class="quiet" onClick={() => setWhole(!isWhole)}>
            {isWhole ? "Show fewer" : "Show all"}
          </button>
        </p>
      )}
    </>
  );
}

/** All agents, looked at again and again; null as long as they are not asked for. */
function useAll(isWanted: boolean): AgentSoFar[] | null {
  const [all, setAll] = useState<AgentSoFar[] | null>(null);
  const [look, setLook] = useState(0);
  useEffect(() => {
    if (!isWanted) {
      setAll(null);
      return;
    }
    const timer = setInterval(() => setLook((look) => look + 1), LOOK);
    return () => clearInterval(timer);
  }, [isWanted]);
  useEffect(
    () => (isWanted ? awaited<AgentSoFar[]>("agents", setAll) : undefined),
    [isWanted, look],
  );
  return isWanted ? all : null;
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
