/**
 * The devices that may use the hub: who has which, taking one away, and pairing one more.
 */

import { listPersons, listTokens, offerPairing, revokeToken } from "/static/api.js";
import { confirmed, h } from "/static/dom.js";
import { card, iconButton } from "/static/home/card.js";
import { t } from "/static/strings.js";
import { toast } from "/static/toast.js";

/** @typedef {import("/static/api.js").Token} Token */

export function createDevices() {
  const rows = h("ul", { class: "rows", "aria-label": t("paired_devices") });
  const person = /** @type {HTMLSelectElement} */ (
    h("select", { class: "field", "aria-label": t("whose_device") })
  );
  const offer = h("div", { class: "offer", role: "status" });
  const form = h(
    "form",
    { class: "line-form" },
    person,
    h("button", { class: "secondary" }, t("pair_device")),
  );
  const problem = (/** @type {Error} */ error) => toast(error.message);

  /** @param {Token} token */
  function row(token) {
    const used = token.used_on ? t("used_on", { day: token.used_on }) : "";
    const about = [token.person, token.scopes.join(", "), used].filter(Boolean).join(" · ");
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row-text" },
        h("span", { class: "row-name" }, token.name),
        h("p", { class: "note" }, about),
      ),
      iconButton("remove", t("revoke_it", { name: token.name }), () => revoke(token)),
    );
  }

  /** @param {Token} token */
  async function revoke(token) {
    if (!(await confirmed(t("revoke_question", { name: token.name }), t("revoke")))) return;
    await revokeToken(token.id).then(refresh).catch(problem);
  }

  async function refresh() {
    const [tokens, persons] = await Promise.all([listTokens(), listPersons()]);
    rows.replaceChildren(...tokens.map(row));
    person.replaceChildren(...persons.map(({ name }) => h("option", { value: name }, name)));
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      const { code, path, valid_s: seconds } = await offerPairing(person.value);
      offer.replaceChildren(
        h("p", {}, t("type_this_code"), " ", h("strong", { class: "code" }, code)),
        h("p", { class: "note" }, t("or_open", { address: location.origin + path })),
        h("p", { class: "note" }, t("valid_for", { count: Math.round(seconds / 60) })),
      );
    } catch (error) {
      problem(/** @type {Error} */ (error));
    }
  });

  return { element: card("devices-title", "person", t("paired_devices"), rows, form, offer), refresh };
}
