"""A registry of npm's packages: it has the files that `npm pack` made, and no others."""

import base64
import contextlib
import hashlib
import json
import pathlib
import tarfile
import urllib.parse

from machines import Quiet, serving


@contextlib.contextmanager
def registry(folder):
    """A server with the packages of a folder; its URL."""
    packages = {}
    for file in pathlib.Path(folder).glob("*.tgz"):
        with tarfile.open(file) as packed:
            manifest = json.load(packed.extractfile("package/package.json"))
        packages[manifest["name"]] = (manifest, file.read_bytes())

    class Registry(Quiet):
        """Answers for a package with its versions, and for the file of one."""

        def do_GET(self):
            """One of both."""
            name = urllib.parse.unquote(self.path.lstrip("/"))
            if name.removesuffix(".tgz") not in packages:
                self.send_error(404)
                return
            manifest, file = packages[name.removesuffix(".tgz")]
            host = f"http://{self.headers['Host']}/{urllib.parse.quote(manifest['name'], safe='')}"
            body = file if name.endswith(".tgz") else _about(manifest, file, host)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Registry) as url:
        yield url


def _about(manifest, file, url):
    version = manifest["version"]
    dist = {"tarball": f"{url}.tgz",
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(file).digest()).decode()}
    about = {"name": manifest["name"], "dist-tags": {"latest": version},
             "versions": {version: {**manifest, "dist": dist}}}
    return json.dumps(about).encode()
