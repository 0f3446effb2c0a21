// The actions of the TypeScript clients on the gateway of host/interoptest, for
// both major versions of the SDK. use() exercises all features and returns a
// report for the test.

export const text = (result) => result.content.map((c) => c.text ?? "").join("");

// Heard records what the client received.
export class Heard {
  progress = [];
  logs = [];
  changes = 0;
  updated = [];
  waiting = [];

  note(change) {
    change();
    this.waiting = this.waiting.filter((look) => !look());
  }

  until(fits) {
    return new Promise((resolve) => {
      const look = () => fits() && (resolve(), true);
      if (!look()) this.waiting.push(look);
    });
  }
}

// answerTo fills in any form.
export const answerTo = ({ requestedSchema }) => ({
  action: "accept",
  content: Object.fromEntries(Object.keys(requestedSchema.properties).map((name) => [name, "Ada"])),
});

export const complete = () => ({ role: "assistant", model: "m1", content: { type: "text", text: "Paris" } });

export async function use({ name, client, call, heard, subscribe }) {
  const report = { progress: {}, logs: {}, cancelled: {}, grown: {}, elicited: {}, sampled: {} };
  const tools = async () => (await client.listTools()).tools.map((t) => t.name);

  report.tools = await tools();
  report.sum = text(await call({ name: "demo__add", arguments: { a: 2, b: 40 } }));
  report.everything = text(await call({ name: "every__get-sum", arguments: { a: 2, b: 3 } }));
  report.resource = (await client.readResource({ uri: "demo://about" })).contents[0].text;
  report.prompt = (await client.getPrompt({ name: "demo__introduce", arguments: { who: "Ada" } })).messages[0].content.text;

  for (const [of, ask, sample] of [
    ["old", "test_elicitation", "test_sampling"],
    ["new", "test_input_required_result_elicitation", "test_input_required_result_sampling"],
  ]) {
    const plain = of === "old";
    report.elicited[of] = text(await call({ name: `${of}__${ask}`, arguments: plain ? { message: "Who?" } : {} }));
    report.sampled[of] = text(await call({ name: `${of}__${sample}`, arguments: plain ? { prompt: "Where?" } : {} }));
  }

  const uri = "go://resource/one";
  await subscribe(uri);
  for (const of of ["go", "goold"]) {
    const steps = [];
    await call({ name: `${of}__count`, arguments: { steps: 3, millis: 60 } }, { onprogress: (p) => steps.push(p.progress) });
    report.progress[of] = steps;

    const said = `${of} for ${name}`;
    await call({ name: `${of}__speak`, arguments: { level: "warning", text: said } });
    await heard.until(() => heard.logs.includes(said));
    report.logs[of] = true;

    const stop = new AbortController();
    const waits = call({ name: `${of}__wait`, arguments: {} }, { signal: stop.signal, onprogress: () => stop.abort() });
    report.cancelled[of] = await waits.then(() => false, () => true);

    const grown = `sprout-${name}`;
    await call({ name: `${of}__grow`, arguments: { name: grown } });
    for (let seen = 0; !(await tools()).includes(`${of}__${grown}`); seen = heard.changes) {
      await heard.until(() => heard.changes > seen);
    }
    await heard.until(() => heard.changes > 0); // the new list may arrive before the notification
    report.grown[of] = true;
  }
  await call({ name: "go__touch", arguments: { uri } });
  await heard.until(() => heard.updated.includes(uri));
  report.updated = true;
  return report;
}
