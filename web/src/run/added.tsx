/** Tables that another program added to the page, under a heading of their own. */

import type { AddedTable, AddedTables } from "../generated/page";
import { Scroll } from "../scroll";

export function Added({ added }: { added: AddedTables | null }) {
  if (added === null) return null;
  return (
    <section class="added">
      <h2>{added.title}</h2>
      {added.tables.map((table, index) => (
        <Rows key={index} table={table} />
      ))}
    </section>
  );
}

function Rows({ table }: { table: AddedTable }) {
  const kind = (index: number) => (table.columns[index]?.is_number ? "number" : "words");
  const isTotal = (index: number) => table.has_total && index === table.rows.length - 1;
  return (
    <>
      <h3>{table.title}</h3>
      <Scroll>
        <table>
          <caption class="unseen">{table.title}</caption>
          <thead>
            <tr>
              {table.columns.map((column, index) => (
                <th key={index} scope="col" class={kind(index)}>
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <tr key={index} class={isTotal(index) ? "total" : ""}>
                {row.map((cell, column) => (
                  <td key={column} class={kind(column)}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
